// Frames of the interaction data to start from.

import { startPath } from "./api.js";
import { element, onClick } from "./elements.js";

const BATCH = 12;

/** Thumbnails of starts in `container`, some at a time; `begin(args)` where one is chosen, or any at random. */
export function makeStarts(container, count, begin) {
  const grid = element("div", { className: "thumbnails" });
  const more = element("button", { type: "button", className: "plain" }, "More");
  const any = element("button", { type: "button" }, "Any start");
  let shown = 0;

  function choose(button, args) {
    container.querySelector("[aria-pressed=true]")?.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", "true");
    begin(args);
  }

  function showMore() {
    const until = Math.min(count, shown + BATCH);
    for (; shown < until; shown += 1) grid.append(thumbnail(shown));
    more.hidden = shown >= count;
  }

  function thumbnail(index) {
    const picture = element("img", { src: startPath(index), alt: "", loading: "lazy" });
    const button = element("button", { type: "button", title: `start ${index}`, ariaLabel: `Start ${index}` }, picture);
    onClick(button, () => choose(button, { index }));
    return button;
  }

  onClick(any, () => choose(any, {}));
  onClick(more, showMore);
  container.append(any, grid, more);
  showMore();
}
