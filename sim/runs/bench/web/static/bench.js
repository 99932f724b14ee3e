// The bench page: shows the simulated world and pokes it. What the lights show comes from the lamp
// ICs, duty by duty, so that a blink here is a blink of the hardware.

import { all, byId, fill, setAttribute, setData, setText, slot } from "./kit/dom.js";
import { follow } from "./kit/stream.js";
import { installHands } from "./hands.js";
import { installExtras, renderExtras } from "./extras.js";
import { installScreens, showScreens } from "./screens.js";

const DUTY_MAX = 4095;
const LIGHT_WORDS = { off: "", detected: "detected", accepted: "accepted", refused: "refused", late: "late", winner: "winner", fault: "fault", find: "here" };
const SWITCH_WORDS = {
  power: (view) => [view.power, view.power ? "on" : "cut"],
  cable: (view) => [view.cable, view.cable ? "in" : "out"],
  tamper: (view) => [!view.tamper, view.tamper ? "open" : "shut"],
};

function render(view) {
  if (!fitsPage(view)) return location.reload();
  setData(document.body, "power", view.power ? "on" : "cut");
  setData(document.body, "cable", view.cable ? "plug" : "pull");
  view.seats.flatMap((seat) => seat.sensors).forEach(renderSpot);
  all("[data-action]").forEach((button) => renderSwitch(button, view));
  renderKey(view.key);
  if (byId("text")) setText(byId("text"), view.text.join("\n"));
  (view.faults ?? []).forEach((fault) => {
    setAttribute(document.querySelector(`[data-fault="${CSS.escape(fault.id)}"]`), "aria-pressed", fault.on);
  });
  fill(byId("messages"), "message-line", view.messages.slice(-8).reverse(), setText);
  showScreens(view.power);
  renderExtras(view);
}

function fitsPage(view) {
  const ids = (selector, name) => all(selector).map((element) => element.dataset[name]).join();
  return (
    ids(".spot", "sensor") === view.seats.flatMap((seat) => seat.sensors.map((s) => s.id)).join() &&
    all("[data-press]").length === view.keypad.length
  );
}

function renderSpot(sensor) {
  const spot = document.querySelector(`.spot[data-sensor="${sensor.id}"]`);
  setData(spot, "light", sensor.light);
  setData(spot, "chip", sensor.chip ? "yes" : "no");
  setAttribute(spot, "aria-pressed", sensor.chip);
  setText(spot.querySelector(".chip-worth"), sensor.wager_cents ? `$${sensor.wager_cents / 100}` : "");
  const light = sensor.light.replace("training-", "");
  setText(spot.querySelector(".light-word"), LIGHT_WORDS[light] ?? light);
  shine(spot, "white", sensor.white);
  shine(spot, "amber", sensor.amber);
}

// An eye sees a lamp at a sixth of its duty as far more than a sixth as bright.
function shine(spot, colour, duty) {
  if (spot.dataset[colour] === String(duty)) return;
  spot.dataset[colour] = duty;
  spot.style.setProperty(`--${colour}`, Math.sqrt(duty / DUTY_MAX).toFixed(3));
}

function renderSwitch(button, view) {
  const [isOn, word] = SWITCH_WORDS[button.dataset.action](view);
  setAttribute(button, "aria-checked", isOn);
  slot(button, "word", word);
}

function renderKey(position) {
  const lock = byId("keyswitch");
  if (!lock) return;
  setData(lock, "position", position);
  all("[data-key]", lock).forEach((button) => {
    setAttribute(button, "aria-pressed", button.dataset.key === position);
  });
}

installHands();
installExtras();
installScreens();
follow("/events", render, () => {});
