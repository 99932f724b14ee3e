// Fingers on the bench: every click becomes one poke of the simulated world, and one line of what
// was done.

import { all, byId } from "./kit/dom.js";

const LINES_MAX = 30;
const DONE = {
  place: (spot) => `Chip dropped on ${spot}`,
  remove: (spot) => `Chip taken from ${spot}`,
  press: (key) => `Key ${key} pressed`,
  key: (position) => (position === "BETWEEN" ? "Key left between two positions" : `Key turned to ${position}`),
  swipe: (card) => `${card} card swiped`,
  "half-swipe": (card) => `${card} card half swiped`,
  power: (what) => (what === "cut" ? "Power cut" : "Power back on"),
  cable: (what) => (what === "pull" ? "Network cable pulled" : "Network cable plugged in"),
  tamper: (what) => (what === "open" ? "Cover opened" : "Cover shut"),
  fault: (name) => `Fault switched: ${name}`,
  shuffler: (label) => `Shuffler: ${label}`,
  record: (what) => (what === "begin" ? "Recording begun" : "Recording ended"),
  "first-round": () => "First round from the start",
  table: (name) => `Opening ${name}`,
};

// `called` is what a person calls the argument, where that is another word.
export async function act(action, argument, called = argument) {
  write(DONE[action](called), "done");
  try {
    const response = await fetch("/act", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ action, argument }),
    });
    const sentence = (await response.json()).sentence;
    if (sentence) write(sentence, "refused");
  } catch (error) {
    console.warn(action, argument, error);
    write("The bench did not answer.", "refused");
  }
}

function write(text, kind) {
  const line = document.createElement("li");
  line.className = kind;
  line.textContent = text;
  byId("doings").prepend(line);
  while (byId("doings").childElementCount > LINES_MAX) byId("doings").lastElementChild.remove();
}

function toggleChip(spot) {
  act(spot.dataset.chip === "yes" ? "remove" : "place", spot.dataset.sensor);
}

function flip(button) {
  const isOn = button.getAttribute("aria-checked") === "true";
  act(button.dataset.action, isOn ? button.dataset.off : button.dataset.on);
}

function swipe(card, action) {
  const way = action === "swipe" ? "9rem" : "4rem";
  card.animate([{ translate: "0 0" }, { translate: `0 -2.2rem` }, { translate: `${way} -2.2rem` }, { translate: "0 0" }], { duration: 650, easing: "ease-in-out" });
  act(action, card.dataset.swipe);
}

// The first selector that the click falls into decides what was done.
const HANDS = [
  [".spot", toggleChip],
  ["[data-press]", (key) => act("press", key.dataset.press)],
  ["[data-key]", (position) => act("key", position.dataset.key)],
  ["[data-swipe]", (card) => swipe(card, "swipe")],
  ["[data-half-swipe]", (half) => swipe(half.parentElement.querySelector("[data-swipe]"), "half-swipe")],
  ["[data-fault]", (fault) => act("fault", fault.dataset.fault, fault.textContent)],
  ["[data-shuffler]", (button) => act("shuffler", button.dataset.shuffler, button.textContent)],
  ["[data-action]", flip],
  ["#collect", () => all('.spot[data-chip="yes"]').forEach(toggleChip)],
];

export function installHands() {
  document.addEventListener("click", (event) => touch(event.target));
  document.addEventListener("keydown", (event) => {
    const spot = event.target.closest?.(".spot");
    if (!spot || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    touch(spot);
  });
}

function touch(target) {
  for (const [selector, does] of HANDS) {
    const found = target.closest(selector);
    if (found) return does(found);
  }
}
