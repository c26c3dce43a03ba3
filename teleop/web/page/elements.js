// Making elements. Whatever comes from elsewhere is set as text, never as HTML.

/** A new element; `properties` are set on it, `children` are elements or texts. */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** The element of that id. */
export const byId = (id) => document.getElementById(id);

/** Set what an element says; what says so already is left alone, as it is asked at every frame. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Call `act` when a button is clicked, and leave it unfocused, so that Space and the arrows keep their meaning. */
export function onClick(button, act) {
  button.addEventListener("click", (event) => {
    // A click by keyboard has no detail: there the focus stays where the person put it.
    if (event.detail > 0) button.blur();
    act(event);
  });
}
