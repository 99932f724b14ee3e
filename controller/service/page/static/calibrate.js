// The guided calibration: a picture of where the chip goes, the sentence, and only the buttons that
// count now.

import { all, byId, setData, setHidden, setText } from "./kit/dom.js";
import { drawFelt } from "./felt.js";
import { verdicts } from "./tests.js";

let spots = {};
let drawn = "";

export function renderCalibration(view) {
  const print = view.sensors.map((sensor) => sensor.id).join();
  if (print !== drawn) {
    drawn = print;
    spots = drawFelt(byId("calibrate-felt"), view.sensors, null);
  }
  const now = view.calibration;
  setHidden(byId("calibrate-begin"), Boolean(now));
  setHidden(byId("undo"), !view.can_undo || Boolean(now));
  all("[data-step]").forEach((button) => setHidden(button, !now || !now.buttons.includes(button.dataset.step)));
  setText(byId("step"), now ? now.sentence : "Each seat is measured empty, then under one chip. It takes about a minute.");
  view.sensors.forEach((sensor) => drawSpot(sensor, now));
  const found = now ? view.sensors.filter((sensor) => now.results[sensor.id]) : [];
  verdicts(byId("calibrate-results"), found.map((sensor) => {
    const { verdict, sentence } = now.results[sensor.id];
    return { part: `sensor ${sensor.id}`, word: verdict, sentence, passed: verdict === "bad" ? "no" : verdict === "weak" ? "weak" : "yes" };
  }));
}

function drawSpot(sensor, now) {
  const group = spots[sensor.id];
  const found = now?.results[sensor.id];
  const wanted = now && now.seat === sensor.seat;
  setData(group, "wanted", wanted ? (now.measuring ? "measuring" : "yes") : "no");
  setData(group, "health", found ? { good: "good", weak: "watch", bad: "bad" }[found.verdict] : now?.skipped.includes(sensor.seat) ? "unknown" : "");
  setText(group.querySelector(".mark"), found ? { good: "✓", weak: "!", bad: "✕" }[found.verdict] : "·");
  group.querySelector(".level").setAttribute("r", wanted && !now.measuring ? 30 : 0);
}
