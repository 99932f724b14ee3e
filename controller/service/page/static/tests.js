// Self-test verdicts as they come, lamps, and what was tried at keys, key switch, card and cabinet.

import { byId, setData, setText } from "./kit/dom.js";
import { act } from "./acts.js";

const WALK_MS = 900;
const CAPS = { START: "COIN IN", END: "GAME OVER", JPOT: "J-POT" }; // what is printed on the key
const cap = (key) => CAPS[key] ?? key;
let walking = 0;
let seats = [];

export function verdicts(list, rows) {
  while (list.children.length > rows.length) list.lastChild.remove();
  rows.forEach((row, index) => {
    const line = list.children[index] ?? list.appendChild(Object.assign(document.createElement("li"), { innerHTML: "<b></b><span></span><p></p>" }));
    setData(line, "passed", row.passed);
    setText(line.children[0], row.word);
    setText(line.children[1], row.part);
    setText(line.children[2], row.sentence);
  });
}

export function renderTests(view) {
  seats = [...new Set(view.sensors.map((sensor) => sensor.seat))];
  const faults = view.selftest.filter((row) => !row.passed).length;
  const running = view.mode.work === "self-test";
  const count = `${view.selftest.length - faults} in order, ${faults} not${running ? " so far" : ""}.`;
  setText(byId("selftest-count"), view.selftest.length || running ? count : "");
  // What failed stands first: nobody scrolls for it.
  const rows = [...view.selftest].sort((a, b) => Number(a.passed) - Number(b.passed));
  verdicts(byId("selftest"), rows.map((row) => ({ ...row, passed: row.passed ? "yes" : "no", word: row.passed ? "ok" : "FAULT" })));
  renderInputs(view);
  renderDark(view);
  if (walking && (!view.mode.on || view.mode.work)) stopWalk();
}

function renderInputs(view) {
  const { keys, key, cabinet, card_reader } = view.inputs;
  setText(byId("inputs-hint"), view.mode.on ? "Press, turn, swipe, open: each shows here, and means nothing to the table." : "In service mode each press, turn and swipe shows here.");
  const tried = new Set(view.trials.filter(([, part]) => part === "key").map(([, , text]) => text));
  const holder = byId("keys");
  if (holder.children.length !== keys.length) holder.replaceChildren(...keys.map((name) => Object.assign(document.createElement("span"), { textContent: cap(name) })));
  keys.forEach((name, index) => setData(holder.children[index], "tried", tried.has(name) ? "yes" : "no"));
  const facts = [];
  if (key !== null) facts.push(["key switch", key]);
  if (cabinet !== null) facts.push(["cabinet", cabinet ? "open" : "closed"]);
  if (card_reader !== null) facts.push(["card reader", card_reader ? "plugged in" : "not there"]);
  fillFacts(byId("input-facts"), facts);
  const lines = view.trials.slice(-12).reverse();
  const list = byId("trials");
  if (list.dataset.newest !== String(lines[0]?.[0] ?? "")) {
    list.dataset.newest = String(lines[0]?.[0] ?? "");
    list.replaceChildren(...lines.map(([, part, text]) => Object.assign(document.createElement("li"), { textContent: `${part.replace("-", " ")}: ${part === "key" ? cap(text) : text}` })));
  }
}

export function fillFacts(list, facts) {
  while (list.children.length > facts.length) list.lastChild.remove();
  facts.forEach(([name, value], index) => {
    const row = list.children[index] ?? list.appendChild(Object.assign(document.createElement("div"), { innerHTML: "<dt></dt><dd></dd>" }));
    setText(row.children[0], name);
    setText(row.children[1], String(value));
  });
}

function renderDark(view) {
  const dark = new Set(view.lamps_dark.map(([sensor, colour]) => `${sensor} ${colour}`));
  for (const button of document.querySelectorAll("button[data-lamp]")) button.setAttribute("aria-pressed", String(dark.has(button.dataset.lamp)));
}

document.addEventListener("click", (event) => {
  // Whoever lights all lamps, or gives them back, has seen enough of the walk.
  if (walking && event.target.closest('button[data-act="light"]')) stopWalk();
  const button = event.target.closest("button[data-lamp]");
  if (button) act("lamp", `${button.dataset.lamp} ${button.getAttribute("aria-pressed") === "true" ? "lit" : "dark"}`);
});

function stopWalk() {
  clearInterval(walking);
  walking = 0;
  byId("walk").setAttribute("aria-pressed", "false");
}

byId("walk").addEventListener("click", () => {
  if (walking) {
    stopWalk();
    return act("light", "stop");
  }
  let step = 0;
  const next = () => {
    const colour = step % 2 ? "amber" : "white";
    act("light", `${colour} ${seats[Math.floor(step / 2) % seats.length]}`);
    step += 1;
  };
  walking = setInterval(next, WALK_MS);
  byId("walk").setAttribute("aria-pressed", "true");
  next();
});
