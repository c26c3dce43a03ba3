// The takes that were kept, the newest first.

import { framePath, getJson } from "./api.js";
import { byId, element, onClick } from "./elements.js";

/** The gallery; `open(take)` plays one. Returns `refresh()`, which asks the server what there is. */
export function makeGallery(about, open) {
  const list = byId("takes");

  return async function refresh() {
    const takes = (await getJson("/api/takes")).toReversed();
    list.replaceChildren(...takes.map((take) => entry(take, about, open)));
    byId("takes-count").textContent = takes.length ? String(takes.length) : "";
    byId("no-takes").hidden = takes.length > 0;
  };
}

function entry(take, about, open) {
  const source = framePath(take, take.length - 1, about.cameras[0].name);
  const picture = element("img", { src: source, alt: "", loading: "lazy" });
  const said = `${take.seconds.toFixed(1)} s · ${take.score_max.toFixed(2)} `;
  const facts = element("span", { className: "quiet" }, said);
  const words = element("span", {}, element("b", {}, take.id), facts, badgeOf(take, about));
  const button = element("button", { type: "button", title: `Play ${take.id}` }, picture, words);
  onClick(button, () => open(take));
  const item = element("li", {}, button);
  item.dataset.take = take.id;
  return item;
}

/** Whether a take shows the task done, and may be believed. */
export function badgeOf(take, about) {
  if (take.trust_min < about.controls.min_trust) return element("span", { className: "badge warning" }, "low trust");
  if (take.success) return element("span", { className: "badge good" }, "success");
  return element("span", { className: "badge" }, "no success");
}
