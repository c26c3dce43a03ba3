// Puts the parts together: what the person holds goes up the line, pictures and state come down.

import { makeLine } from "./connection.js";
import { byId } from "./elements.js";
import { makeFilm } from "./film.js";
import { makeGallery } from "./gallery.js";
import { listenToHands } from "./hands.js";
import { makeHelm } from "./helm.js";
import { makeHelp } from "./help.js";
import { makeHindsight } from "./hindsight.js";
import { makeListener } from "./listener.js";
import { enter } from "./login.js";
import { say } from "./notice.js";
import { makePictures } from "./pictures.js";
import { makePlayer } from "./player.js";
import { makeReadings } from "./readings.js";
import { makeStarts } from "./starts.js";
import { makeTimeline } from "./timeline.js";
import { makeToolbar } from "./toolbar.js";

const RETRY_MS = 2000;

async function begin() {
  let about = null;
  try {
    about = await enter();
  } catch (error) {
    say("connection", `the server does not answer (${error.message}); trying again`);
    setTimeout(begin, RETRY_MS);
    return;
  }
  run(about);
}

function run(about) {
  byId("task").textContent = about.text;
  const line = makeLine();
  const film = makeFilm();
  const readings = makeReadings();
  const pictures = makePictures(byId("pictures"), about);
  const helm = makeHelm(line, about, { toggleHelp: () => toggleHelp(), acts: () => timeline.live() });
  const toggleHelp = makeHelp(about, helm.commands);
  const updateToolbar = makeToolbar(byId("toolbar"), helm.commands, helm.act);
  const timeline = makeTimeline(byId("timeline"), film, about, makeHindsight(helm, pictures, film));
  const refreshTakes = makeGallery(about, (take) => playTake(take));
  const playTake = makePlayer(about, refreshTakes);
  const letGo = listenToHands(line, helm, about, pictures.first, readings.sent);
  makeStarts(byId("starts"), about.num_starts, (args) => helm.start(args));
  line.open(
    makeListener({ about, line, helm, film, readings, pictures, timeline, updateToolbar, refreshTakes, letGo }),
  );
}

begin();
