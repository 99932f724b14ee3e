// One player at several seats: SAME PLAYER, the seats, SAME PLAYER again. The seats are gathered
// here because the table wants them in one press; whether they may be joined is the table's to say.

import { all, byId, setAttribute, setHidden, slot } from "./kit/dom.js";
import { say } from "./kit/say.js";

const HOW = "Touch the seats of one player, then SAME PLAYER. The same seats again part them.";

let chosen = null; // the seats touched so far, null while nobody is being joined

export function installJoin(pressNamed, tell) {
  byId("join").addEventListener("click", () => {
    if (chosen === null) return begin(tell);
    const seats = [...chosen].sort((a, b) => a - b);
    end(tell);
    if (seats.length > 0) pressNamed(byId("join"), `JOIN ${seats.join(" ")}`);
  });
  // Before the seat's own press, which would select a winner.
  document.addEventListener("click", (event) => touched(event), { capture: true });
}

export function renderJoin(view) {
  if (view.state !== "open" && chosen !== null) end(() => {});
  setHidden(byId("join"), view.state !== "open");
  for (const { seat } of view.seats) {
    const group = view.joined.find((seats) => seats.includes(seat)) ?? [];
    const others = group.filter((other) => other !== seat);
    slot(seatButton(seat), "joined", others.length ? say("with {}", others.join(", ")) : "");
  }
}

function begin(tell) {
  chosen = new Set();
  setAttribute(byId("join"), "aria-pressed", true);
  tell(say(HOW));
}

function end(tell) {
  chosen = null;
  setAttribute(byId("join"), "aria-pressed", false);
  all(".seat[data-joining]").forEach((seat) => delete seat.dataset.joining);
  tell("");
}

function touched(event) {
  const button = chosen === null ? null : event.target.closest(".seat");
  if (button === null) return;
  event.stopImmediatePropagation();
  const seat = Number(button.dataset.seat);
  if (!chosen.delete(seat)) chosen.add(seat);
  if (chosen.has(seat)) button.dataset.joining = "yes";
  else delete button.dataset.joining;
}

const seatButton = (seat) => document.querySelector(`[data-seat="${seat}"]`);
