// The overlay that lists every key and button.

import { BUTTON_COMMANDS } from "./gamepad.js";
import { byId, element, onClick } from "./elements.js";

/** Fill the overlay for a world; returns `toggle()`. */
export function makeHelp(about, commands) {
  const dialog = byId("help");
  const moves = Object.entries(about.keys).map(([code, meaning]) => row(code.replace(/^(Key|Digit)/, ""), meaning));
  const does = commands.map(({ key, also, text, name }) => row(also ? `${key} or ${also}` : key, text, buttonOf(name)));
  byId("help-keys").append(list("Move", moves), list("Take", does));
  const toggle = () => (dialog.open ? dialog.close() : dialog.showModal());
  onClick(byId("help-button"), toggle);
  onClick(dialog.querySelector("[data-does=close]"), toggle);
  return toggle;
}

const list = (title, rows) => element("section", {}, element("h3", {}, title), element("dl", {}, ...rows));

function row(key, meaning, button) {
  const also = button ? element("span", { className: "quiet" }, ` gamepad: ${button}`) : "";
  return element("div", {}, element("dt", {}, element("kbd", {}, key)), element("dd", {}, meaning, also));
}

const buttonOf = (command) => Object.entries(BUTTON_COMMANDS).find(([, does]) => does === command)?.[0];
