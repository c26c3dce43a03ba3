// The line to the server: one WebSocket, opened again whenever it is lost.

import { parseFrame } from "./frame.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5000;

/**
 * The line; `open(listener)` opens it and keeps it open.
 *
 * A listener hears `opened(welcome)`, `lost(reason, waitMs)`, `refused(sentence)` of a message that was none,
 * `state(message)` and `frame(frame)`. `send(message)` says something, `command(name, args)`
 * asks for something and resolves to null, or to the sentence that says why it was refused.
 */
export function makeLine() {
  let socket = null;
  let listener = null;
  let wait = FIRST_WAIT_MS;
  let lastId = 0;
  const unanswered = new Map();

  function connect() {
    socket = new WebSocket(address());
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") hear(JSON.parse(data));
      else listener.frame(parseFrame(data));
    };
    socket.onclose = ({ reason }) => lose(reason);
  }

  function hear(message) {
    if (message.type === "welcome") {
      wait = FIRST_WAIT_MS;
      rememberSession(message.session);
      listener.opened(message);
    } else if (message.type === "done" && message.id === null) {
      listener.refused(message.error);
    } else if (message.type === "done") {
      unanswered.get(message.id)?.(message.error);
      unanswered.delete(message.id);
    } else if (message.type === "state") {
      listener.state(message);
    }
  }

  function lose(reason) {
    for (const answer of unanswered.values()) answer("The connection was lost before the answer came.");
    unanswered.clear();
    listener.lost(reason, wait);
    setTimeout(connect, wait);
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
  }

  const ready = () => socket?.readyState === WebSocket.OPEN;

  function send(message) {
    if (ready()) socket.send(JSON.stringify(message));
  }

  function command(name, args = {}) {
    if (!ready()) return Promise.resolve("There is no connection to the server.");
    lastId += 1;
    send({ type: "command", id: lastId, name, args });
    return new Promise((resolve) => unanswered.set(lastId, resolve));
  }

  function open(heardBy) {
    listener = heardBy;
    connect();
  }

  return { open, send, command };
}

function address() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const session = new URLSearchParams(location.search).get("session");
  return `${scheme}//${location.host}/drive${session ? `?session=${encodeURIComponent(session)}` : ""}`;
}

// In the address, so that a reload takes the session back and a copy of the tab watches it.
function rememberSession(session) {
  history.replaceState(null, "", `?session=${encodeURIComponent(session)}`);
}
