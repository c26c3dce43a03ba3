// What can be done with a take, by which key, and when.

const ALWAYS = () => true;
const TAKEN = ({ recording, length }) => recording || length > 0;
const MOVED = ({ step }) => step > 0;

/**
 * In the order of the buttons: `codes` are keys by position (LeRobot's where it has them: right, left, escape, n, r and
 * q), `key` and `also` how they are called, `label(state)` what a button says, `ask(state, about)` the server's command
 * and its arguments, `when(state)` whether it makes sense.
 */
export const COMMANDS = [
  {
    name: "record",
    codes: ["Space"],
    key: "Space",
    text: "start a take; end it; go on with it",
    label: ({ recording, length }) => (recording ? "Stop" : length ? "Go on" : "Record"),
    ask: () => ["record"],
    when: ALWAYS,
  },
  {
    name: "keep",
    codes: ["ArrowRight", "KeyN"],
    key: "→",
    also: "N",
    text: "end the take and keep it",
    label: () => "Keep",
    ask: () => ["keep"],
    when: TAKEN,
  },
  {
    name: "redo",
    codes: ["ArrowLeft", "KeyR"],
    key: "←",
    also: "R",
    text: "drop the take and begin again from the same start",
    label: () => "Redo",
    ask: () => ["redo"],
    when: MOVED,
  },
  {
    name: "discard",
    codes: ["Backspace", "Delete"],
    key: "⌫",
    text: "drop the take",
    label: () => "Discard",
    ask: () => ["discard"],
    when: TAKEN,
  },
  {
    name: "undo",
    codes: ["KeyZ"],
    key: "Z",
    text: "go back one second, more while held, and go on from there",
    label: () => "Undo 1 s",
    ask: (state, about) => ["undo", { steps: about.fps }],
    when: MOVED,
    repeats: true,
  },
  {
    name: "pause",
    codes: ["KeyP"],
    key: "P",
    text: "let the world stand still, and move again",
    label: ({ paused }) => (paused ? "Resume" : "Pause"),
    ask: ({ paused }) => [paused ? "resume" : "pause"],
    when: ALWAYS,
  },
  {
    name: "step",
    codes: ["Period"],
    key: ".",
    text: "one single step",
    label: () => "Step",
    ask: () => ["step"],
    when: ALWAYS,
    repeats: true,
  },
  {
    name: "reality",
    codes: ["KeyV"],
    key: "V",
    text: "show reality beside it, driven by the same actions",
    label: ({ reality }) => (reality ? "Hide reality" : "Reality"),
    ask: ({ reality }) => ["reality", { on: !reality }],
    when: ALWAYS,
    needs: ({ has_reality: has }) => has,
  },
  {
    name: "stop",
    codes: ["Escape", "KeyQ"],
    key: "Esc",
    also: "Q",
    text: "end the take, which then waits to be kept or discarded",
    ask: () => ["record"],
    when: ({ recording }) => recording,
  },
];

/** Those that this world has. */
export const commandsFor = (about) => COMMANDS.filter(({ needs }) => !needs || needs(about));
