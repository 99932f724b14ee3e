// FIND A SEAT: the next seat touched shows by its lamps where it is. It is no press of that seat.

import { byId, setAttribute, setHidden } from "./kit/dom.js";
import { say } from "./kit/say.js";

const HOW = "Touch the seat that is to show where it is.";

let isOn = false;

export function installFind(pressNamed, tell) {
  byId("find").addEventListener("click", () => {
    byId("rules").open = false;
    turn(!isOn, tell);
  });
  document.addEventListener("click", (event) => touched(event, pressNamed, tell), { capture: true });
}

// In a game a seat's light tells of its bet.
export function renderFind(view) {
  setHidden(byId("find").parentElement, view.state !== "open");
  if (view.state !== "open" && isOn) turn(false, () => {});
}

function turn(on, tell) {
  isOn = on;
  setAttribute(byId("find"), "aria-pressed", on);
  tell(on ? say(HOW) : "");
}

function touched(event, pressNamed, tell) {
  const seat = isOn ? event.target.closest(".seat") : null;
  if (seat === null) return;
  event.stopImmediatePropagation();
  turn(false, tell);
  pressNamed(seat, `FIND ${seat.dataset.seat}`);
}
