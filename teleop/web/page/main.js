// Puts the parts together: what the person holds goes up the line, pictures and state come down.

import { connect } from "./connection.js";
import { byId } from "./elements.js";
import { makeFilm } from "./film.js";
import { makeGallery } from "./gallery.js";
import { listenToHands } from "./hands.js";
import { makeHelm } from "./helm.js";
import { makeHelp } from "./help.js";
import { makeHindsight } from "./hindsight.js";
import { enter } from "./login.js";
import { showFrame, showState } from "./meters.js";
import { flash, say } from "./notice.js";
import { makePictures } from "./pictures.js";
import { makePlayer } from "./player.js";
import { makeReadings } from "./readings.js";
import { makeStarts } from "./starts.js";
import { makeTimeline } from "./timeline.js";
import { makeToolbar } from "./toolbar.js";

const RETRY_MS = 2000;

async function begin() {
  try {
    run(await enter());
  } catch (error) {
    say("connection", `The server does not answer (${error.message}); trying again.`);
    setTimeout(begin, RETRY_MS);
  }
}

function run(about) {
  byId("task").textContent = about.text;
  let letGo = () => {};
  let line = null;
  const film = makeFilm();
  const readings = makeReadings();
  const pictures = makePictures(byId("pictures"), about);
  const helm = makeHelm(() => line, about, () => toggleHelp());
  const toggleHelp = makeHelp(about, helm.commands);
  const updateToolbar = makeToolbar(byId("toolbar"), helm.commands, helm.act);
  const hindsight = makeHindsight(helm, pictures.show, () => pictures.show(film.frames.at(-1)));
  const timeline = makeTimeline(byId("timeline"), film, about, hindsight);
  const openPlayer = makePlayer(about, () => refreshTakes());
  const refreshTakes = makeGallery(about, openPlayer);
  makeStarts(byId("starts"), about.num_starts, (args) => helm.ask("start", args));

  line = connect({ opened, lost, state: showNewState, frame: showNewFrame });
  letGo = listenToHands(line, helm, about, pictures.first, readings.sent);

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
    say("connection", `${reason || "The connection is lost."} Trying again in ${waitMs / 1000} s.`);
  }

  function showNewState(state) {
    if (state.takes !== helm.state.takes) refreshTakes();
    if (state.message) flash(state.message);
    update(state);
    byId("late").textContent = state.late;
    byId("people").textContent = `${state.sessions} of ${about.max_sessions}`;
  }

  async function showNewFrame(frame) {
    film.add(frame);
    // State comes when something changes, frames at every step: a take grows with them.
    const length = helm.state.recording ? helm.state.length + frame.step - helm.state.step : helm.state.length;
    update({ step: frame.step, length, reality: frame.views.some(({ world }) => world === "reality") });
    if (!timeline.looking()) {
      showFrame(frame, about.controls.min_trust);
      if (await pictures.show(frame)) readings.drawn(frame);
    }
    line.send({ type: "ack", tick: frame.tick });
    timeline.update();
  }

  function update(part) {
    helm.note(part);
    updateToolbar(helm.state);
    showState(helm.state, about.fps);
  }
}

begin();
