// Everything a person may hold, joined into one input that is let go of together.

import { byId } from "./elements.js";
import { watchGamepads } from "./gamepad.js";
import { makeInput, onHandsOff } from "./input.js";
import { listenToKeys } from "./keyboard.js";
import { leadByPointer, pushByPad } from "./pointer.js";

/** Listen to keys, pointers and gamepads; returns `letGo()`. */
export function listenToHands(line, helm, about, picture, onSent) {
  const input = makeInput(line.send, onSent, () => helm.state.drives);
  const forgetKeys = listenToKeys(new Set(Object.keys(about.keys)), (keys) => input.hold({ keys }), helm.key);
  leadByPointer(picture, (pointer) => input.hold({ pointer }));
  pushByPad(byId("pad"), (pad) => input.hold({ pad }));
  watchGamepads(input.hold, helm.button);

  function letGo() {
    forgetKeys();
    input.letGo();
  }
  onHandsOff(letGo);
  return letGo;
}
