// Dragging: in a picture it says where the robot is to go, on the pad how fast and which way.

/** `onPoint([u, v])` with parts of the picture's width and height while a pointer drags in it, null once it is up. */
export function leadByPointer(canvas, onPoint) {
  drag(canvas, (event) => {
    const box = canvas.getBoundingClientRect();
    onPoint(event && [part((event.clientX - box.left) / box.width), part((event.clientY - box.top) / box.height)]);
  });
}

/** `onPush({x, y})` with shares of the pad's radius while a pointer drags on it, null when it is let go. */
export function pushByPad(pad, onPush) {
  const knob = pad.firstElementChild;
  drag(pad, (event) => {
    const push = event && pushOf(event, pad.getBoundingClientRect());
    knob.style.transform = push ? `translate(${push.x * 100}%, ${push.y * 100}%)` : "";
    onPush(push);
  });
}

function pushOf({ clientX, clientY }, box) {
  const x = (2 * (clientX - box.left)) / box.width - 1;
  const y = (2 * (clientY - box.top)) / box.height - 1;
  const far = Math.max(1, Math.hypot(x, y));
  return { x: x / far, y: y / far };
}

const part = (value) => Math.min(1, Math.max(0, value));

// `onDrag(event)` while the first pointer is down, captured so that it may leave the element; then `onDrag(null)`.
function drag(target, onDrag) {
  let dragging = null;
  target.addEventListener("pointerdown", (event) => {
    if (dragging !== null || event.button !== 0) return;
    dragging = event.pointerId;
    target.setPointerCapture(dragging);
    onDrag(event);
  });
  target.addEventListener("pointermove", (event) => event.pointerId === dragging && onDrag(event));
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
    target.addEventListener(name, (event) => {
      if (event.pointerId !== dragging) return;
      dragging = null;
      onDrag(null);
    });
  }
  // The page lets go of everything on blur; a finger still down must not take hold again.
  addEventListener("blur", () => (dragging = null));
}
