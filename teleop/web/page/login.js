// A server that other machines can reach asks for a token; it is in the fragment of the address that it printed.

import { getJson, login } from "./api.js";
import { byId } from "./elements.js";

/** What the server says of itself, once it lets us in. */
export async function enter() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  // Out of the address at once: it must not stay in the history, nor go along when somebody copies the address.
  history.replaceState(null, "", location.pathname + location.search);
  if (token) await login(token).catch(ignoreRefusal);
  for (;;) {
    try {
      return await getJson("/api/about");
    } catch (error) {
      if (error.status !== 401) throw error;
      await askForToken();
    }
  }
}

function ignoreRefusal(error) {
  if (!error.status) throw error;
}

function askForToken() {
  const dialog = byId("login");
  const form = dialog.querySelector("form");
  dialog.showModal();
  return new Promise((done) => {
    form.onsubmit = async (event) => {
      event.preventDefault();
      try {
        await login(form.token.value);
        dialog.close();
        done();
      } catch (error) {
        const fault = error.status ? "That is not the token." : "The server does not answer.";
        form.querySelector(".fault").textContent = fault;
      }
    };
  });
}
