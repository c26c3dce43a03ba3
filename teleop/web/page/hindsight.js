// Looking back along the timeline: the world stands still meanwhile, and goes on from now or from the moment chosen.

/** Actions for the timeline of a session at `helm`, over `film` and in `pictures`. */
export function makeHindsight(helm, pictures, film) {
  let stopped = false;

  function resume() {
    if (stopped) helm.ask("resume");
    stopped = false;
  }

  return {
    look(frame) {
      if (!helm.state.paused) {
        stopped = true;
        // At once, as a drag looks many times before the server says so.
        helm.note({ paused: true });
        helm.ask("pause");
      }
      pictures.show(frame);
    },
    async goOn(step) {
      await helm.ask("seek", { step });
      resume();
    },
    /** Something else is done meanwhile, which decides itself whether the world moves. */
    leave() {
      stopped = false;
    },
    backToNow() {
      pictures.show(film.frames.at(-1));
      resume();
    },
  };
}
