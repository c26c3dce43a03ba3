// The steps since the start as curves of score and trust; dragging looks back, and the world can go on from there.

import { onClick } from "./elements.js";

/**
 * The timeline over `film`. `actions` are `look(frame)` to show an earlier frame, `goOn(step)` to continue from it and
 * `backToNow()`. Returns `{update, looking}`; `looking()` is true while the person looks back.
 */
export function makeTimeline(box, film, about, actions) {
  const [canvas, range, saying, choice] = ["canvas", "input", "output", "#looking-back"].map((of) => box.querySelector(of));
  let last = 0;
  let looking = false;

  function look(on) {
    looking = on;
    choice.hidden = !on;
    document.body.classList.toggle("looking-back", on);
    if (!on) range.value = last;
    say();
  }

  function say() {
    const seconds = (step) => (step / about.fps).toFixed(1);
    saying.textContent = looking ? `${seconds(range.value)} s of ${seconds(last)} s` : `${seconds(last)} s`;
  }

  range.addEventListener("input", () => {
    const frame = film.at(Number(range.value));
    if (!frame) return;
    look(true);
    actions.look(frame);
  });
  // Else the arrows would move the slider instead of keeping the take.
  range.addEventListener("change", () => range.blur());
  onClick(choice.querySelector("#go-on"), () => {
    const step = Number(range.value);
    look(false);
    actions.goOn(step);
  });
  onClick(choice.querySelector("#back-to-now"), () => {
    look(false);
    actions.backToNow();
  });

  function update() {
    last = film.frames.at(-1)?.step ?? 0;
    range.max = last;
    if (!looking) range.value = last;
    say();
    drawCurves(canvas, film.frames, last, about.controls.min_trust);
  }

  return { update, looking: () => looking };
}

// Trust below what counts is drawn as a warning, wherever the person looks.
function drawCurves(canvas, frames, last, minTrust) {
  const ratio = devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const brush = canvas.getContext("2d");
  const style = getComputedStyle(canvas);
  const x = (step) => (step / Math.max(1, last)) * canvas.width;
  const y = (value) => canvas.height - value * (canvas.height - 2 * ratio) - ratio;
  brush.fillStyle = style.getPropertyValue("--warning");
  for (const { step, trust } of frames) {
    if (trust < minTrust) brush.fillRect(x(step - 1), 0, Math.max(ratio, x(1)), canvas.height);
  }
  for (const [key, colour] of [["trust", "--trust"], ["score", "--accent"]]) {
    brush.strokeStyle = style.getPropertyValue(colour);
    brush.lineWidth = 1.5 * ratio;
    brush.beginPath();
    for (const frame of frames) brush.lineTo(x(frame.step), y(frame[key]));
    brush.stroke();
  }
}
