// Gamepads that the browser knows the layout of (`mapping` is "standard"). Their state can only be polled.

const RIGHT_TRIGGER = 7;
const LEFT_TRIGGER = 6;

/** Names of buttons in the order of the standard layout, https://www.w3.org/TR/gamepad/#remapping. */
const BUTTONS = ["south", "east", "west", "north", "left shoulder", "right shoulder", , , "select", "start"];

/** What a button does, as a key would. */
export const BUTTON_COMMANDS = {
  south: "record",
  north: "keep",
  east: "discard",
  west: "redo",
  "left shoulder": "undo",
  start: "pause",
};

/** `onHeld({stick, buttons})` at every frame of the screen while a gamepad is there, `onCommand(name)` at a press. */
export function watchGamepads(onHeld, onCommand) {
  let before = [];
  let polling = false;

  function poll() {
    const pad = [...navigator.getGamepads()].find((found) => found?.connected && found.mapping === "standard");
    const seen = pad && document.hasFocus();
    const buttons = seen ? BUTTONS.filter((name, index) => pad.buttons[index]?.pressed) : [];
    onHeld({ stick: seen ? axesOf(pad) : null, buttons });
    for (const name of buttons) if (!before.includes(name) && BUTTON_COMMANDS[name]) onCommand(BUTTON_COMMANDS[name]);
    before = buttons;
    polling = Boolean(pad);
    if (polling) requestAnimationFrame(poll);
  }

  addEventListener("gamepadconnected", () => polling || poll());
}

// The left stick in the plane, the right one up, down and about the vertical, the triggers for the gripper. A hundredth
// is finer than any stick holds still, and keeps a resting one from sending its noise.
function axesOf({ axes, buttons }) {
  const fine = (value) => Math.round(100 * value) / 100;
  return {
    x: fine(axes[0]),
    y: fine(axes[1]),
    z: fine(axes[3]),
    yaw: fine(axes[2]),
    gripper: fine(buttons[RIGHT_TRIGGER].value - buttons[LEFT_TRIGGER].value),
  };
}
