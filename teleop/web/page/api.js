// The server's plain HTTP side.

/** What is at `path` as JSON. Throws an Error with `status` where the server refuses. */
export async function getJson(path) {
  return (await ask(path)).json();
}

/** The picture at `path`. */
export async function getPicture(path) {
  return createImageBitmap(await (await ask(path)).blob());
}

export const deleteTake = (id) => ask(`/api/takes/${encodeURIComponent(id)}`, { method: "DELETE" });

export function login(token) {
  const headers = { "Content-Type": "application/json" };
  return ask("/api/login", { method: "POST", headers, body: JSON.stringify({ token }) });
}

/** Where frame `step` of a take is. */
export const framePath = (take, step, camera) =>
  `/api/takes/${encodeURIComponent(take.id)}/frames/${step}.jpg?camera=${encodeURIComponent(camera)}`;

export const startPath = (index) => `/api/starts/${index}.jpg`;

async function ask(path, options) {
  const answer = await fetch(path, options);
  if (answer.ok) return answer;
  throw Object.assign(new Error(`${path}: ${answer.status} ${answer.statusText}`), { status: answer.status });
}
