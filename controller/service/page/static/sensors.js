// Every sensor live: the felt map, a small plot each, and one large. Twenty frames a second come in;
// what cannot be seen is not drawn.

import { all, byId, setData, setHidden, setText } from "./kit/dom.js";
import { act, pull } from "./acts.js";
import { drawFelt, markHealth } from "./felt.js";
import { bigPlot, smallPlot } from "./plots.js";

const KEPT = 400; // 20 s
const HEALTH_EVERY_MS = 30000;
const times = [];
const heard = {}; // by sensor: raw, ref, level
const health = {};
let sensors = [];
let last = [];
let chosen = "";
let spots = {};
let tiles = {};
let big = null;
let source = null;
let drawAsked = false;

export function renderSensors(view) {
  const print = JSON.stringify(view.sensors);
  if (print === JSON.stringify(sensors)) return;
  sensors = view.sensors;
  if (!sensors.some((sensor) => sensor.id === chosen)) chosen = sensors[0].id;
  sensors.forEach((sensor) => (heard[sensor.id] ??= { raw: times.map(() => null), ref: times.map(() => null), level: times.map(() => null) }));
  spots = drawFelt(byId("felt"), sensors, choose);
  drawTiles();
  choose(chosen);
}

function drawTiles() {
  tiles = {};
  byId("tiles").replaceChildren(
    ...sensors.map((sensor) => {
      const row = document.createElement("li");
      row.dataset.sensor = sensor.id;
      row.innerHTML = '<button type="button"><b></b><i class="lamp-dot"></i><span class="figures"></span></button><div class="small-plot"></div><p class="why"></p>';
      setText(row.querySelector("b"), sensor.id);
      row.querySelector("button").addEventListener("click", () => choose(sensor.id));
      tiles[sensor.id] = { row, plot: null, sensor };
      return row;
    }),
  );
}

function choose(id) {
  chosen = id;
  all("[data-sensor]").forEach((element) => setData(element, "chosen", element.dataset.sensor === id ? "yes" : "no"));
  const sensor = sensors.find((each) => each.id === id);
  setText(byId("one-name"), `Sensor ${id}`);
  setText(byId("one-place"), `seat ${sensor.seat} · ${sensor.ic}, electrode ${sensor.electrode}`);
  if (big) big.destroy();
  byId("big").replaceChildren();
  big = bigPlot(byId("big"), sensor);
  showHealth();
  draw();
}

function showHealth() {
  const known = health[chosen];
  setText(byId("one-advice"), known ? known.advice || "Health: in order." : "Health: nothing was recorded since the last calibration.");
  const days = (known?.days ?? []).slice(-7).reverse();
  byId("one-days").replaceChildren(...days.map(dayLine));
}

function dayLine(day) {
  const line = document.createElement("p");
  const date = new Date(day.day * 86400000).toISOString().slice(0, 10);
  const noise = day.noise_times === null ? "noise not heard" : `noise ${day.noise_times.toFixed(1)} × calibrated`;
  const chip = day.chip === null ? "no bets" : `chip ${(day.chip * 100).toFixed(0)} %`;
  line.textContent = `${date}: ${noise}, drift ${(day.drift * 100).toFixed(1)} %, ${chip}`;
  return line;
}

async function pullHealth() {
  try {
    (await pull("/health")).forEach((each) => (health[each.id] = each));
    showHealth();
  } catch {
    // The next one comes soon; the page says by itself when the unit is gone.
  }
}

function healthOf(id, row) {
  if (row && row[3] === "fault") return "bad";
  const known = health[id];
  if (!known) return "unknown";
  if (!known.advice) return "good";
  return known.advice.startsWith("replace") ? "bad" : "watch";
}

function take(frame) {
  last = frame.s;
  times.push(performance.now() / 1000);
  sensors.forEach((sensor, index) => {
    const [raw, ref, level] = frame.s[index] ?? [null, null, null];
    const kept = heard[sensor.id];
    kept.raw.push(raw);
    kept.ref.push(ref);
    kept.level.push(level);
  });
  if (times.length > KEPT) {
    times.shift();
    Object.values(heard).forEach((kept) => ["raw", "ref", "level"].forEach((name) => kept[name].shift()));
  }
  if (!drawAsked) {
    drawAsked = true;
    requestAnimationFrame(draw);
  }
}

function draw() {
  drawAsked = false;
  if (document.body.dataset.room !== "table" || !sensors.length) return;
  const now = times.at(-1) ?? 0;
  const ages = times.map((time) => time - now);
  sensors.forEach((sensor, index) => drawOne(sensor, last[index], ages));
  if (big) big.show(ages, heard[chosen]);
}

function drawOne(sensor, row, ages) {
  const tile = tiles[sensor.id];
  const group = spots[sensor.id];
  markHealth(group, healthOf(sensor.id, row));
  if (!row) return;
  const [raw, ref, level, presence, kind, why, look] = row;
  [tile.row, group].forEach((element) => {
    setData(element, "presence", presence);
    setData(element, "look", look);
  });
  group.querySelector(".level").setAttribute("r", Math.max(0, Math.min(1.3, level ?? 0)) * 32);
  setText(tile.row.querySelector(".figures"), raw === null ? "no reading" : `${raw} / ${ref ?? "–"}`);
  setText(tile.row.querySelector(".why"), why);
  if (!tile.plot) tile.plot = smallPlot(tile.row.querySelector(".small-plot"), sensor);
  if (tile.plot.isSeen()) tile.plot.show(ages, heard[sensor.id].level);
  if (sensor.id === chosen) drawFacts(sensor, row);
}

function drawFacts(sensor, [raw, ref, level, presence, kind, why, look]) {
  setText(byId("one-thinks"), `${presence}${kind ? ` (${kind})` : ""}: ${why}`);
  setData(byId("one-thinks"), "presence", presence);
  const facts = [
    ["raw", raw ?? "–"],
    ["reference", ref ?? "–"],
    ["level", level === null ? "–" : `${level.toFixed(2)} chips`],
    ["a chip", `${sensor.chip} counts`],
    ["noise", `${sensor.noise} counts`],
    ["lamp", look],
  ];
  const list = byId("one-facts");
  if (!list.children.length) list.append(...facts.map(([name]) => Object.assign(document.createElement("div"), { innerHTML: `<dt>${name}</dt><dd></dd>` })));
  facts.forEach(([, value], index) => setText(list.children[index].lastChild, String(value)));
}

function listen(isOpen) {
  if (isOpen === Boolean(source)) return;
  if (source) source.close();
  source = isOpen ? new EventSource("/live") : null;
  if (source) source.onmessage = (event) => take(JSON.parse(event.data));
}

export function startSensors() {
  byId("one-find").addEventListener("click", () => act("find", String(sensors.find((each) => each.id === chosen).seat)));
  // Only while somebody sees it: the unit reads its sensors faster for it.
  const look = () => listen(document.body.dataset.room === "table" && document.visibilityState === "visible");
  document.addEventListener("room", look);
  document.addEventListener("visibilitychange", look);
  setHidden(byId("one-find"), false);
  pullHealth();
  setInterval(pullHealth, HEALTH_EVERY_MS);
}
