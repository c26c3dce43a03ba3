// Score, success and trust at a glance, and whether a take is being recorded.

import { byId, setText } from "./elements.js";
import { say } from "./notice.js";

/** Show what a frame says of itself; below `minTrust` a take would not count as a demonstration. */
export function showFrame({ score, success, trust }, minTrust) {
  fill(byId("score"), score);
  fill(byId("trust"), trust);
  setText(byId("success"), success ? "success" : "not yet");
  byId("success").classList.toggle("reached", success);
  const low = trust < minTrust;
  document.body.classList.toggle("untrusted", low);
  const warning = `Trust is below ${minTrust}: this has left what the world has seen. Undo (Z) and go on from there.`;
  say("trust", low && warning);
}

function fill(meter, value) {
  setText(meter.querySelector("output"), value.toFixed(2));
  meter.querySelector("meter").value = value;
}

/** Show the state of the session. */
export function showState({ recording, paused, length }, fps) {
  document.body.classList.toggle("recording", recording);
  document.body.classList.toggle("paused", paused);
  say("paused", paused && !length && "The world stands still. Resume (P) or record (Space) to go on.");
  const seconds = `${(length / fps).toFixed(1)} s`;
  const doing = recording ? `recording ${seconds}` : length ? `${seconds} recorded: keep it?` : "not recording";
  setText(byId("recording").lastElementChild, doing);
}
