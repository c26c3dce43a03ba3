// Score, success and trust at a glance, and whether a take is being recorded.

import { byId } from "./elements.js";
import { say } from "./notice.js";

/** Show what a frame says of itself; below `minTrust` a take would not count as a demonstration. */
export function showFrame({ score, success, trust }, minTrust) {
  fill(byId("score"), score);
  fill(byId("trust"), trust);
  byId("success").textContent = success ? "success" : "not yet";
  byId("success").classList.toggle("reached", success);
  const low = trust < minTrust;
  document.body.classList.toggle("untrusted", low);
  say("trust", low ? `Trust is below ${minTrust}: this has left what the world has seen. Undo (Z) and go on from there.` : null);
}

function fill(meter, value) {
  meter.querySelector("output").textContent = value.toFixed(2);
  meter.querySelector("meter").value = value;
}

/** Show the state of the session. */
export function showState({ recording, ended, paused, length }, fps) {
  document.body.classList.toggle("recording", recording);
  document.body.classList.toggle("paused", paused || ended);
  const seconds = `${(length / fps).toFixed(1)} s`;
  const doing = recording ? `recording ${seconds}` : ended ? `${seconds} recorded: keep it?` : "not recording";
  byId("recording").lastElementChild.textContent = doing;
}
