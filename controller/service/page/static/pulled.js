// What is asked for only while its room is open: events, the unit's figures, the black box.
// Each `open…` returns what closes it again.

import { byId, setHidden, setText } from "./kit/dom.js";
import { pull } from "./acts.js";
import { COLOURS, tracePlot } from "./plots.js";
import { fillFacts, verdicts } from "./tests.js";

const LOG_EVERY_MS = 2000;
const UNIT_EVERY_MS = 3000;
const LINES_MAX = 500;

function every(ms, work) {
  const again = () => work().catch(() => {}); // the page says by itself when the unit is gone
  again();
  const timer = setInterval(again, ms);
  return () => clearInterval(timer);
}

// -- events ---------------------------------------------------------------------------------------

let lines = [];
let sequence = 0;
let number = 0;

async function pullLog() {
  const news = await pull(`/log?sequence=${sequence}&line=${number}`);
  const journal = news.journal.map((each) => ({ at: each.wall_ms, from: "journal", kind: each.kind, text: each.text }));
  const program = news.lines.map((each) => ({ at: each.wall_ms, from: "log", kind: each.level, text: `${each.source}: ${each.text}` }));
  sequence = news.journal.at(-1)?.sequence ?? sequence;
  number = news.lines.at(-1)?.number ?? number;
  if (!journal.length && !program.length) return;
  lines = [...lines, ...journal, ...program].sort((a, b) => a.at - b.at).slice(-LINES_MAX);
  showLog();
}

function showLog() {
  const wanted = byId("filter").value.toLowerCase();
  const from = { journal: byId("with-journal").checked, log: byId("with-log").checked };
  const shown = lines.filter((line) => from[line.from] && `${line.kind} ${line.text}`.toLowerCase().includes(wanted));
  byId("log").replaceChildren(...shown.reverse().map(logLine));
}

function logLine(line) {
  const row = document.createElement("li");
  row.dataset.from = line.from;
  row.dataset.kind = line.kind;
  const time = new Date(line.at).toISOString().replace("T", " ").slice(0, 23);
  [["time", time], ["b", line.kind], ["span", line.text]].forEach(([tag, text]) => row.append(Object.assign(document.createElement(tag), { textContent: text })));
  return row;
}

["filter", "with-journal", "with-log"].forEach((id) => byId(id).addEventListener("input", showLog));

export const openLog = () => every(LOG_EVERY_MS, pullLog);

// -- the unit -------------------------------------------------------------------------------------

const gigabytes = (bytes) => `${(bytes / 1e9).toFixed(1)} GB`;
const absent = "this machine does not say";

const validity = (each) => (each.until.startsWith("9999") ? "does not expire" : `from ${each.from.slice(0, 10)} until ${each.until.slice(0, 10)}`);

function unitFacts(unit) {
  const offset = unit.clock_offset_ms;
  const supply = (names) => (names === null ? absent : names.length ? names.join(", ") : "no trouble");
  return [
    ["software", unit.software],
    ["board", unit.serial],
    ["table", unit.table],
    ["running for", `${Math.floor(unit.up_s / 3600)} h ${Math.floor(unit.up_s / 60) % 60} min ${unit.up_s % 60} s`],
    ["link to the manager", `${unit.link_up ? "up" : "DOWN"}, ${unit.link_address}`],
    ["journal", `${unit.journal_records} records, ${unit.journal_records - unit.acknowledged} not yet at the manager`],
    ["unit's clock", `${new Date(unit.wall_ms).toISOString().replace("T", " ").slice(0, 19)} UTC`],
    ["clock against the manager's", offset === null ? "not known: no link yet" : `${offset > 0 ? "+" : ""}${offset} ms`],
    ...unit.certificates.map((each) => [`certificate of ${each.name === "ca" ? "the floor's authority" : "this unit"}`, each.until ? validity(each) : "cannot be read"]),
    ["temperature", unit.temperature_c === null ? absent : `${unit.temperature_c} °C`],
    ["supply and throttling now", supply(unit.supply_now)],
    ["supply and throttling since the start", supply(unit.supply_since_start)],
    ["load", unit.load ?? absent],
    ["disk free", unit.disk_free_bytes === null ? absent : `${gigabytes(unit.disk_free_bytes)} of ${gigabytes(unit.disk_bytes)}`],
    ["disk wear", unit.disk_wear_percent === null ? absent : `${unit.disk_wear_percent} % of its life used`],
    ...[...unit.changes].reverse().map((line) => ["change of the program", line]),
  ];
}

export const openUnit = () => every(UNIT_EVERY_MS, async () => fillFacts(byId("unit"), unitFacts(await pull("/unit"))));

// -- the black box --------------------------------------------------------------------------------

let plot = null;
let playing = 0;

export function openRounds() {
  pull("/traces").then((rounds) => {
    const none = Object.assign(document.createElement("li"), { textContent: "No round was played yet." });
    byId("rounds").replaceChildren(...(rounds.length ? rounds.map(roundButton) : [none]));
  }, () => {});
  return stopReplay;
}

function roundButton(round) {
  const row = document.createElement("li");
  const button = Object.assign(document.createElement("button"), { type: "button", className: "act", textContent: `Round ${round}` });
  button.addEventListener("click", () => showTrace(round));
  row.append(button);
  return row;
}

async function showTrace(round) {
  stopReplay();
  let trace;
  try {
    trace = await pull(`/traces/${round}`);
  } catch (refused) {
    setText(byId("trace-about"), refused.message);
    return;
  }
  setText(byId("trace-name"), `Round ${round}: 5 s before START to 5 s after`);
  const cut = trace.complete ? "" : " The 5 s after START are missing: the table lost its power or was stopped.";
  setText(byId("trace-about"), `Accepted: ${trace.accepted.join(", ") || "none"}. Refused: ${trace.refused.join(", ") || "none"}. Levels in chips.${cut}`);
  setText(byId("replay-sentence"), trace.replay.sentence);
  verdicts(byId("trace-verdicts"), trace.replay.rows.map(([sensor, then, now]) => ({ part: `sensor ${sensor}`, word: then === now ? "same" : "DIFFERS", sentence: `then ${then}, now ${now}`, passed: then === now ? "yes" : "no" })));
  if (plot) plot.end();
  byId("trace").replaceChildren();
  plot = trace.sensors.some((sensor) => sensor.t.length) ? tracePlot(byId("trace"), trace.sensors) : null;
  setHidden(byId("replay"), !plot);
  showKey(trace.sensors);
}

// The lines that rise at all; the rest lie on each other at zero.
function showKey(sensors) {
  const risen = sensors.map((sensor, index) => [sensor, COLOURS[index % COLOURS.length]]).filter(([sensor]) => Math.max(...sensor.level.map((level) => level ?? 0)) > 0.2);
  byId("trace-key").replaceChildren(
    ...risen.map(([sensor, colour]) => {
      const word = Object.assign(document.createElement("span"), { textContent: `— ${sensor.id}` });
      word.style.color = colour;
      return word;
    }),
  );
}

function stopReplay() {
  cancelAnimationFrame(playing);
  playing = 0;
}

// In its own time: ten seconds, as the table heard them.
function replay() {
  stopReplay();
  const began = performance.now();
  const step = () => {
    const second = plot.span[0] + (performance.now() - began) / 1000;
    plot.move(second > plot.span[1] ? null : second);
    if (second <= plot.span[1]) playing = requestAnimationFrame(step);
  };
  step();
}

byId("replay").addEventListener("click", replay);
