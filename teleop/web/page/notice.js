// One line of text above the picture: the most urgent of what there is to say.

import { byId, setText } from "./elements.js";

const FLASH_MS = 6000;
const URGENCY = ["connection", "flash", "role", "paused", "trust"];
const texts = new Map();
let fading = null;

/** Say `text` for as long as it is true; null when it no longer is. */
export function say(kind, text) {
  if (text) texts.set(kind, text);
  else texts.delete(kind);
  const shown = URGENCY.find((each) => texts.has(each));
  const notice = byId("notice");
  notice.classList.toggle("empty", !shown);
  notice.dataset.kind = shown ?? "";
  setText(notice, texts.get(shown) ?? "");
}

/** Say it for some seconds. */
export function flash(text) {
  clearTimeout(fading);
  say("flash", text);
  fading = setTimeout(() => say("flash", null), FLASH_MS);
}
