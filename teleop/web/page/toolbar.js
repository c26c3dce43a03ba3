// The buttons below the picture.

import { element, onClick, setText } from "./elements.js";

/** Buttons for `commands` in `container`; `act(command)` at a click. Returns `update(state)`. */
export function makeToolbar(container, commands, act) {
  const buttons = commands
    .filter(({ label }) => label)
    .map((command) => {
      const name = element("span");
      const button = element("button", { type: "button", title: command.text }, name, element("kbd", {}, command.key));
      button.dataset.does = command.name;
      onClick(button, () => act(command));
      container.append(button);
      return { command, name, button };
    });

  return function update(state) {
    for (const { command, name, button } of buttons) {
      setText(name, command.label(state));
      button.disabled = !command.when(state);
    }
  };
}
