// Looking back along the timeline: the world stands still meanwhile, and goes on from now or from the moment chosen.

/** Actions for the timeline of a session at `helm`; `show(frame)` draws an earlier frame, `now()` the latest. */
export function makeHindsight(helm, show, now) {
  let stopped = false;

  function resume() {
    if (stopped) helm.ask("resume");
    stopped = false;
  }

  return {
    look(frame) {
      if (!stopped && !helm.state.paused) {
        stopped = true;
        helm.ask("pause");
      }
      show(frame);
    },
    async goOn(step) {
      await helm.ask("seek", { step });
      resume();
    },
    backToNow() {
      now();
      resume();
    },
  };
}
