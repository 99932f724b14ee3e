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

let onAnswer = null;

export function installPresses(answered) {
  onAnswer = answered;
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

async function ask(name) {
  try {
    const response = await fetch("/press", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ button: name }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    return await response.json();
  } catch (error) {
    console.warn("press", name, error);
    return { accepted: false, sentence: say(NO_ANSWER) };
  }
}
