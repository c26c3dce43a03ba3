// One kept take, played at the rate of the world.

import { deleteTake, framePath, getPicture } from "./api.js";
import { badgeOf } from "./gallery.js";
import { byId, element, onClick } from "./elements.js";
import { flash } from "./notice.js";

/** The player; `deleted()` after a take is gone. Returns `open(take)`. */
export function makePlayer(about, deleted) {
  const dialog = byId("player");
  const [canvas, range, facts] = ["canvas", "input", "dl"].map((of) => dialog.querySelector(of));
  const button = (does) => dialog.querySelector(`[data-does=${does}]`);
  const camera = about.cameras[0];
  let shown = null;
  let playing = false;

  function open(take) {
    shown = { take, pictures: new Map() };
    byId("player-title").textContent = take.id;
    facts.replaceChildren(...factsOf(take, about));
    Object.assign(canvas, { width: camera.width, height: camera.height });
    range.max = take.length - 1;
    range.value = 0;
    button("delete").textContent = "Delete";
    dialog.showModal();
    play(true);
  }

  function play(on) {
    const begins = on && !playing;
    playing = on;
    button("play").textContent = on ? "Pause" : "Play";
    if (begins) run(shown);
  }

  // By deadlines of the first frame played: a slow fetch delays one frame and does not slow down the rest.
  async function run(film) {
    if (Number(range.value) >= Number(range.max)) range.value = 0;
    const from = Number(range.value);
    const begun = performance.now();
    while (playing && shown === film) {
      await draw(film, Number(range.value));
      if (Number(range.value) >= Number(range.max)) return play(false);
      await sleep(begun + (1000 * (Number(range.value) + 1 - from)) / about.fps - performance.now());
      if (playing) range.value = Number(range.value) + 1;
    }
  }

  async function draw(film, step) {
    try {
      const picture = film.pictures.get(step) ?? (await getPicture(framePath(film.take, step, camera.name)));
      film.pictures.set(step, picture);
      if (shown === film) canvas.getContext("2d").drawImage(picture, 0, 0);
    } catch {
      play(false);
      flash(`Step ${step} of ${film.take.id} cannot be shown; is the server still there?`);
    }
  }

  async function remove() {
    if (button("delete").textContent === "Delete") {
      button("delete").textContent = "Really delete?";
      return;
    }
    const { take } = shown;
    dialog.close();
    await deleteTake(take.id).catch(() => flash(`${take.id} could not be deleted; is the server still there?`));
    deleted();
  }

  range.addEventListener("input", () => {
    play(false);
    draw(shown, Number(range.value));
  });
  dialog.addEventListener("close", () => {
    play(false);
    for (const picture of shown.pictures.values()) picture.close();
    shown = null;
  });
  onClick(button("play"), () => play(!playing));
  onClick(button("delete"), remove);
  onClick(button("close"), () => dialog.close());
  return open;
}

function factsOf(take, about) {
  const facts = {
    length: `${take.length} steps, ${take.seconds.toFixed(1)} s`,
    "best score": take.score_max.toFixed(2),
    "least trust": take.trust_min.toFixed(2),
    outcome: badgeOf(take, about),
    "made by": take.made_by,
  };
  const fact = ([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value));
  return Object.entries(facts).map(fact);
}

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));
