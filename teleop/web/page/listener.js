// What the server says, shown.

import { byId } from "./elements.js";
import { showFrame, showState } from "./meters.js";
import { flash, say } from "./notice.js";

/** A listener for the line that shows all it hears by the parts of the page. */
export function makeListener(parts) {
  const { about, line, helm, film, readings, pictures, timeline, updateToolbar, refreshTakes, letGo } = parts;

  function opened({ role }) {
    helm.note({ drives: role === "driver" });
    document.body.dataset.link = "open";
    document.body.dataset.role = role;
    say("connection", null);
    say("role", role === "driver" ? null : "You are watching: this session is driven in another tab.");
  }

  function lost(reason, waitMs) {
    letGo();
    readings.reset();
    document.body.dataset.link = "lost";
    say("connection", `${reason || "the connection to the server is lost"}; trying again in ${waitMs / 1000} s`);
  }

  function state(said) {
    if (said.takes !== helm.state.takes) refreshTakes();
    if (said.message) flash(said.message);
    update(said);
    byId("late").textContent = said.late;
    byId("people").textContent = `${said.sessions} of ${about.max_sessions}`;
  }

  async function frame(seen) {
    film.add(seen);
    update({ step: seen.step, length: seen.length });
    if (!timeline.looking()) {
      showFrame(seen, about.controls.min_trust);
      if (await pictures.show(seen)) readings.drawn(seen);
    }
    // Only now: a page that is slow to draw is sent fewer frames.
    line.send({ type: "ack", tick: seen.tick });
    timeline.update();
  }

  function update(part) {
    helm.note(part);
    updateToolbar(helm.state);
    showState(helm.state, about.fps);
  }

  return { opened, lost, refused: flash, state, frame };
}
