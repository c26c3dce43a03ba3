// What the person holds, sent whole on every change and again and again while it lasts: a message lost or late then
// costs one step, and a page that falls silent lets go.

const REPEAT_MS = 100;
// The server takes 200 messages a second; a stick or a pointer changes at the rate of the screen.
const SHORTEST_GAP_MS = 8;

/**
 * Held state towards the server. `hold(part)` merges `{keys, pointer, stick, pad, buttons}` into it, `letGo()` empties
 * it; `onSent(seq, ms)` hears of every message. Nothing is sent while `drives()` is false: somebody else does.
 */
export function makeInput(send, onSent, drives) {
  const nothing = { keys: [], pointer: null, stick: null, pad: null, buttons: [] };
  let held = nothing;
  let said = "";
  let seq = 0;
  let sentAt = -Infinity;
  let later = null;

  function tell() {
    if (!drives()) return;
    const { keys, pointer, stick, pad, buttons } = held;
    seq += 1;
    sentAt = performance.now();
    said = JSON.stringify(held);
    onSent(seq, sentAt);
    send({ type: "input", seq, t: sentAt, keys, pointer, axes: pad ?? stick, buttons });
  }

  function tellSoon() {
    if (later !== null) return;
    const gap = sentAt + SHORTEST_GAP_MS - performance.now();
    if (gap <= 0) return tell();
    later = setTimeout(() => {
      later = null;
      tell();
    }, gap);
  }

  function hold(part) {
    held = { ...held, ...part };
    if (JSON.stringify(held) !== said) tellSoon();
  }

  setInterval(() => {
    if (!document.hidden) tell();
  }, REPEAT_MS);
  return { hold, letGo: () => hold(nothing) };
}

/** Call `letGo` whenever the page can no longer see a key or a pointer come up. */
export function onHandsOff(letGo) {
  addEventListener("blur", letGo);
  addEventListener("pagehide", letGo);
  addEventListener("contextmenu", letGo);
  document.addEventListener("visibilitychange", () => document.hidden && letGo());
}
