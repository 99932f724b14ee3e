// The service page: its rooms, its one view stream, and the buttons that ask the unit for something.
// What a button may do now is the unit's to say; a refusal is shown as it came.

import { all, byId, setData, setHidden, setText } from "./kit/dom.js";
import { follow } from "./kit/stream.js";
import { act, onSaid } from "./acts.js";
import { renderBus, renderFaults } from "./bus.js";
import { renderCalibration } from "./calibrate.js";
import { openLog, openRounds, openUnit } from "./pulled.js";
import { renderSensors, startSensors } from "./sensors.js";
import { renderTests } from "./tests.js";

const STATES = { open: "Open for bets", locked: "Bets locked", claim: "Win entry", confirm: "Confirm the win", offline: "Offline", fault: "Fault", closed: "Closed" };
const OPENED = { log: openLog, unit: openUnit, rounds: openRounds };
let closeRoom = null;

function showRoom() {
  const room = location.hash.slice(1) || "table";
  const known = all("section.room").some((section) => section.dataset.room === room) ? room : "table";
  setData(document.body, "room", known);
  all("section.room").forEach((section) => setHidden(section, section.dataset.room !== known));
  all("nav.rooms a").forEach((link) => (link.dataset.room === known ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current")));
  if (closeRoom) closeRoom();
  closeRoom = OPENED[known] ? OPENED[known]() : null;
  document.dispatchEvent(new CustomEvent("room", { detail: known }));
}

function nextStep(view) {
  if (view.mode.work === "calibration") return view.calibration ? view.calibration.sentence : "";
  if (view.mode.work) return `Under way: ${view.mode.work}.`;
  if (view.mode.sentence) return view.mode.sentence;
  const failed = view.selftest.filter((row) => !row.passed);
  if (view.mode.on && failed.length) return `The self-test found ${failed.length} of ${view.selftest.length} parts not in order. First ${failed[0].part}: ${failed[0].sentence}`;
  if (view.mode.on) return "The table is closed for you. Test, scan or calibrate; then END SERVICE.";
  if (view.round_open) return `A game is under way: you can look, and touch nothing. ${view.guide.sentence}`;
  return view.guide.sentence;
}

function render(view) {
  setData(document.body, "mode", view.mode.on ? "on" : "off");
  setData(document.body, "work", view.mode.work);
  setData(byId("state-box"), "state", view.state);
  setText(byId("state"), view.mode.on ? "IN SERVICE" : STATES[view.state] ?? view.state);
  setText(byId("link-word"), view.link === "up" ? "manager reached" : "no link to the manager");
  setText(byId("next"), nextStep(view));
  setHidden(byId("enter"), view.mode.on);
  setHidden(byId("leave"), !view.mode.on);
  setHidden(byId("stop"), !view.mode.work);
  byId("enter").disabled = view.round_open;
  all("[data-needs='mode']").forEach((button) => (button.disabled = !view.mode.on || Boolean(view.mode.work)));
  renderSensors(view);
  renderTests(view);
  renderCalibration(view);
  renderBus(view);
  renderFaults(view);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-act]");
  if (!button) return;
  if (button.dataset.ask && !window.confirm(button.dataset.ask)) return;
  act(button.dataset.act, button.dataset.argument ?? "");
});

byId("sign-out").addEventListener("click", async () => {
  await fetch("/sign-out", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  location.reload();
});

// Silent, because the unit is gone, or because it started anew and knows this session no more. Only
// an answer tells which; without one the page stays and says that it is not live.
const ASK_MS = 3000;
let askedAt = 0;

function askWhoIAm() {
  if (performance.now() - askedAt < ASK_MS) return;
  askedAt = performance.now();
  fetch("/unit").then((answer) => answer.status === 401 && location.reload(), () => {});
}

let saidUntil = 0;
onSaid((sentence) => {
  setText(byId("said"), sentence);
  setHidden(byId("said"), !sentence);
  saidUntil = performance.now() + 8000;
});

window.addEventListener("hashchange", showRoom);
startSensors();
showRoom();
follow("/events", render, (silentMs) => {
  if (saidUntil && performance.now() > saidUntil) setHidden(byId("said"), true);
  if (silentMs > ASK_MS) askWhoIAm();
});
document.body.dataset.ready = "yes";
