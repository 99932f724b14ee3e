// Presses: the button looks pressed at once, the table's answer follows, and one touch is one press.
// It knows nothing of the round; whether a press makes sense is the table's to say. The answer comes
// with the table's view, so that nobody waits for the stream.

import { say } from "./kit/say.js";

const ANSWER_MS_MAX = 4000;
const BOUNCE_MS = 350; // a second tap on the same button sooner than this is the same touch
const REFUSED_LOOK_MS = 1200;
const NO_ANSWER =
  "The table unit did not answer. Look at the lights before you press again.";

const lastPressed = new Map();
// By pointer: the button under a finger, when it came, when it left, and whether that was told.
const fingers = new Map();
let beside = []; // the buttons that were touched together with the last one clicked

let onAnswer = null;

export function installPresses(answered) {
  onAnswer = answered;
  const early = { capture: true };
  document.addEventListener("pointerdown", fingerDown, early);
  for (const gone of ["pointerup", "pointercancel"]) document.addEventListener(gone, fingerUp, early);
  document.addEventListener("click", clicked, early);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-button]");
    if (button) press(button, button.dataset.button);
  });
}

export async function press(button, name) {
  const now = performance.now();
  if (button.dataset.pressed === "yes" || now - (lastPressed.get(name) ?? -BOUNCE_MS) < BOUNCE_MS) return;
  lastPressed.set(name, now);
  button.dataset.pressed = "yes";
  const answer = await ask(name);
  button.dataset.pressed = "no";
  if (onAnswer(answer)) return;
  button.dataset.answer = "refused";
  setTimeout(() => delete button.dataset.answer, REFUSED_LOOK_MS);
}

function fingerDown({ pointerId, target }) {
  const button = target.closest?.("[data-button]");
  fingers.set(pointerId, { button, down: performance.now(), up: Infinity, isTold: false });
}

// Under several fingers a browser makes no click. A thumb that rests on the edge of the glass takes
// no press away, and a palm is told once.
function fingerUp({ pointerId, type }) {
  const own = fingers.get(pointerId);
  if (!own) return;
  own.up = performance.now();
  const others = touchedWith(own);
  if (type === "pointercancel" || others.length === 0 || !own.button || own.isTold) return;
  for (const other of others) other.isTold = true;
  noteBeside(own);
  own.button.click();
}

// The browser's own click; the one above has noted what lay beside it.
function clicked({ pointerId, isTrusted }) {
  if (!isTrusted) return;
  beside = [];
  const own = fingers.get(pointerId); // a key of a keyboard has none
  if (own) noteBeside(own);
}

function touchedWith(own) {
  for (const [id, finger] of fingers) if (finger.up < own.down) fingers.delete(id);
  return [...fingers.values()].filter((finger) => finger !== own);
}

function noteBeside(own) {
  const names = touchedWith(own).map(({ button }) => button?.dataset.button);
  beside = [...new Set(names)].filter((name) => name && name !== own.button?.dataset.button);
}

async function ask(name) {
  try {
    const response = await fetch("/press", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ button: name, beside: beside.join(",") }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    return await response.json();
  } catch (error) {
    console.warn("press", name, error);
    return { accepted: false, sentence: say(NO_ANSWER) };
  }
}
