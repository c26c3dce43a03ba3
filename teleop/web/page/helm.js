// What the person asks of the server besides moving: one command at a time of each name, and only where it makes sense.

import { commandsFor } from "./commands.js";
import { flash } from "./notice.js";

const REPEAT_MS = 250;

/**
 * The helm of a session on `line`; `acts()` is called before anything is done. `note(part)` keeps its state,
 * `act(command)`, `key(code, repeated)` and `button(name)` do what a click, a key or a gamepad's button means,
 * `start(args)` begins anew, `ask(name, args)` sends a command as it is.
 */
export function makeHelm(line, about, { toggleHelp, acts }) {
  const commands = commandsFor(about);
  const underWay = new Set();
  const state = { drives: true, recording: false, paused: false, reality: false, step: 0, length: 0, takes: -1 };

  async function ask(name, args) {
    if (!state.drives) return;
    const fault = await line.command(name, args);
    if (fault) flash(fault);
  }

  async function act(command) {
    if (!command || underWay.has(command.name) || !command.when(state)) return;
    underWay.add(command.name);
    acts();
    const rest = command.repeats && new Promise((wake) => setTimeout(wake, REPEAT_MS));
    await Promise.all([ask(...command.ask(state, about)), rest]);
    underWay.delete(command.name);
  }

  function start(args) {
    acts();
    return ask("start", args);
  }

  function key(code, repeated) {
    const command = commands.find(({ codes }) => codes.includes(code));
    if (code === "?") toggleHelp();
    else if (command?.repeats || !repeated) act(command);
    return code === "?" || command !== undefined;
  }

  return {
    commands,
    state,
    ask,
    act,
    start,
    key,
    button: (name) => act(commands.find((command) => command.name === name)),
    note: (part) => Object.assign(state, part),
  };
}
