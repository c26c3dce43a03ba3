// Keys by their position, so that W A S D lie together on every layout.

/**
 * Listen to keys. Those in `movement` are held: `onHeld(codes)`. Any other goes to `onCommand(code, repeated)`, which
 * says whether it means something. Returns a function that forgets the keys held.
 */
export function listenToKeys(movement, onHeld, onCommand) {
  const held = new Set();
  const tell = () => onHeld([...held]);

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || isElsewhere(event)) return;
    if (movement.has(event.code)) {
      held.add(event.code);
      tell();
    } else if (!onCommand(event.key === "?" ? "?" : event.code, event.repeat)) {
      return;
    }
    event.preventDefault();
  });
  addEventListener("keyup", ({ code, key }) => {
    // macOS tells of no key that comes up while Command is down.
    if (key === "Meta") held.clear();
    else if (!held.delete(code)) return;
    tell();
  });
  return () => held.clear();
}

// Keys for a field, a dialog or a button reached by Tab are no driving.
function isElsewhere({ target, code }) {
  if (document.querySelector("dialog[open]") || target.matches("input, select, textarea")) return true;
  return target.matches("button, a") && ["Space", "Enter"].includes(code);
}
