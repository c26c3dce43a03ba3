// The steps since the start as curves of score and trust; dragging looks back, and the world can go on from there.

import { onClick, setText } from "./elements.js";

/**
 * The timeline over `film`. `actions` are `look(frame)` to show an earlier frame, `goOn(step)` to continue from it,
 * `backToNow()`, and `leave()` when something else is done. Returns `{update, live, looking}`: `looking()` is true
 * while the person looks back, `live()` ends that.
 */
export function makeTimeline(box, film, about, actions) {
  const parts = ["canvas", "input", "output", "#looking-back"];
  const [canvas, range, saying, choice] = parts.map((part) => box.querySelector(part));
  let last = 0;
  let looking = false;
  keepSharp(canvas);

  function look(on) {
    looking = on;
    choice.hidden = !on;
    document.body.classList.toggle("looking-back", on);
    if (!on) range.value = last;
    say();
  }

  function say() {
    const seconds = (step) => (step / about.fps).toFixed(1);
    setText(saying, looking ? `${seconds(range.value)} s of ${seconds(last)} s` : `${seconds(last)} s`);
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

  function live() {
    if (!looking) return;
    look(false);
    actions.leave();
  }

  return { update, live, looking: () => looking };
}

// As many pixels as the screen has; setting the size clears a canvas, so that it is not done at every frame.
function keepSharp(canvas) {
  new ResizeObserver(() => {
    canvas.width = canvas.clientWidth * devicePixelRatio;
    canvas.height = canvas.clientHeight * devicePixelRatio;
  }).observe(canvas);
}

// Trust below what counts is drawn as a warning, wherever the person looks.
function drawCurves(canvas, frames, last, minTrust) {
  const { width, height } = canvas;
  const brush = canvas.getContext("2d");
  const style = getComputedStyle(canvas);
  const thick = 1.5 * devicePixelRatio;
  // No more points than pixels.
  const every = Math.ceil(frames.length / Math.max(1, width));
  const points = frames.filter((_, index) => index % every === 0);
  const x = (step) => (step / Math.max(1, last)) * width;
  const y = (value) => height - thick - value * (height - 2 * thick);
  brush.clearRect(0, 0, width, height);
  brush.fillStyle = style.getPropertyValue("--warning");
  for (const { step, trust } of points) {
    if (trust < minTrust) brush.fillRect(x(step - every), 0, x(every) + 1, height);
  }
  brush.lineWidth = thick;
  for (const [key, colour] of [["trust", "--trust"], ["score", "--accent"]]) {
    brush.strokeStyle = style.getPropertyValue(colour);
    brush.beginPath();
    for (const point of points) brush.lineTo(x(point.step), y(point[key]));
    brush.stroke();
  }
}
