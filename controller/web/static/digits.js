// The display's own figures, drawn as strokes, so that the jackpot looks the same on every monitor
// whatever fonts a unit has. Each figure is a wheel; a growing amount rolls up to its new value, any
// other change is shown at once. The exact text stays in the page for anyone who reads it otherwise.

import { money } from "./kit/money.js";

const SVG = "http://www.w3.org/2000/svg";
const GLYPHS = {
  0: "M31 8C46 8 53 24 53 50S46 92 31 92 9 76 9 50 16 8 31 8Z",
  1: "M14 26L34 8V92",
  2: "M10 31C10 17 19 8 31.500 8 44 8 52 17 52 29.500 52 39 47 46.500 39 55L10 87V92H53",
  3: "M12 8H50L30 40C44 40 53 51 53 65.500 53 81 43 92 29.500 92 18 92 10.500 85.500 8.500 76",
  4: "M42 92V8L8 68H55",
  5: "M49 8H17L12.500 46.500C17 41 23.500 38 31 38 44 38 53 49 53 64.500 53 81 43 92 29.500 92 18.500 92 11 86 8.500 77.500",
  6: "M41 8C24 22 9 43 9 65.500 9 82 18 92 31 92S53 82 53 66.500 44 41 31.500 41C20 41 11 49 9 61",
  7: "M9 8H53L25 92",
  8: "M31 47C19.500 47 12 38.500 12 27.500S19.500 8 31 8 50 16.500 50 27.500 42.500 47 31 47ZM31 47C17.500 47 9 57 9 69.500S17.500 92 31 92 53 82 53 69.500 44.500 47 31 47Z",
  9: "M21 92C38 78 53 57 53 34.500 53 18 44 8 31 8S9 18 9 33.500 18 59 30.500 59C42 59 51 51 53 39",
  $: "M49 28C46 19.500 39.500 15 31 15 20 15 12.500 21.500 12.500 31 12.500 53 51 44 51 68 51 78.500 42.500 85 31 85 21 85 13.500 80 11 71M31 3V97",
  ",": "M12 88L8 102",
  ".": "M10 91V91.500",
  "-": "M12 50H44",
  "/": "M12 97L44 3",
  B: "M12 8V92H32C45 92 52 82 52 70S45 48 32 48H12M32 48C43 48 49 40 49 28S43 8 32 8H12",
  D: "M12 8V92H26C44 92 53 74 53 50S44 8 26 8H12",
  R: "M12 92V8H32C45 8 52 17 52 30S45 52 32 52H12M32 52L53 92",
  S: "M49 26C46 14 39.500 8 31 8 20 8 12.500 16 12.500 28 12.500 53 51 44 51 70 51 83 42.500 92 31 92 21 92 13.500 86 11 74",
  "₡": "M50 26C46 18 40 15 33 15 19 15 10 29 10 50S19 85 33 85C40 85 46 82 50 74M24 97L32 3M36 97L44 3",
  "\u00a0": "",
};
const WIDTHS = { ",": 22, ".": 22, "-": 56, "/": 56, "\u00a0": 22 };
const WIDTH = 62;
const LENGTH_FULL = 10; // "$99,999.99" fills the screen; longer amounts are drawn smaller
const ROLL_MS = 1600;
const WHEEL = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]; // the last one, so that 9 rolls on to 0
const still = matchMedia("(prefers-reduced-motion: reduce)");

const rolls = new Map(); // holder: { from, to, began }

function glyph(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTHS[name] ?? WIDTH} 100`);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", GLYPHS[name]);
  path.setAttribute("stroke", "url(#gold)");
  svg.append(path);
  return svg;
}

function cell(name) {
  const box = document.createElement("span");
  box.className = "cell";
  const isFigure = /[0-9]/.test(name);
  box.dataset.kind = isFigure ? "figure" : "point";
  if (!isFigure) box.dataset.glyph = name;
  box.append(isFigure ? wheel() : glyph(name));
  return box;
}

function wheel() {
  const column = document.createElement("span");
  column.className = "wheel";
  column.append(...WHEEL.map(glyph));
  return column;
}

// Shows `cents` in `holder`: rolled up to when it grew, at once when it fell or is new. Returns true
// when the amount became longer or shorter, so that whatever is around it must be fitted anew.
export function showAmount(holder, cents, atOnce = false) {
  if (holder.dataset.amountDrawn === String(cents)) return false;
  const before = holder.dataset.amountDrawn === undefined ? null : Number(holder.dataset.amountDrawn);
  const text = money(cents);
  const isNew = drawStrip(holder, text);
  holder.dataset.amountDrawn = holder.dataset.amountCents = String(cents);
  speak(holder, text);
  if (isNew || before === null || atOnce || cents < before || still.matches) {
    rolls.delete(holder);
    turnTo(holder, cents);
    return isNew;
  }
  rolls.set(holder, { from: rolls.get(holder)?.shown ?? before, to: cents, began: performance.now() });
  if (rolls.size === 1) requestAnimationFrame(roll);
  return false;
}

function roll(now) {
  rolls.forEach((each, holder) => {
    const share = Math.min(1, (now - each.began) / ROLL_MS);
    each.shown = each.from + (each.to - each.from) * (1 - (1 - share) ** 3);
    if (share >= 1) rolls.delete(holder);
    turnTo(holder, share >= 1 ? each.to : each.shown);
  });
  if (rolls.size) requestAnimationFrame(roll);
}

// Like the counter of a car: a wheel moves only while the one to its right passes from 9 to 0.
function turnTo(holder, value) {
  const wheels = [...holder.querySelectorAll(".wheel")].reverse();
  const amount = Math.abs(value);
  wheels.forEach((column, place) => {
    const unit = 10 ** place;
    const figure = Math.floor(amount / unit) % 10;
    const rest = amount % unit;
    const turning = place === 0 ? amount % 1 : Math.max(0, rest - (unit - 1));
    column.style.transform = `translateY(${(-100 * (figure + turning)) / WHEEL.length}%)`;
  });
}

// Returns true when the strip was drawn anew.
function drawStrip(holder, text) {
  const shape = text.replace(/[0-9]/g, "0");
  const old = holder.querySelector(".strip");
  if (old?.dataset.shape === shape) return false;
  old?.remove();
  const strip = document.createElement("span");
  strip.className = "strip";
  strip.dataset.shape = shape;
  strip.setAttribute("aria-hidden", "true");
  strip.style.setProperty("--fit", String(Math.min(1, LENGTH_FULL / text.length)));
  strip.append(...[...text].map(cell));
  holder.append(strip);
  return true;
}

function speak(holder, text) {
  let spoken = holder.querySelector(".spoken");
  if (!spoken) {
    spoken = document.createElement("span");
    spoken.className = "spoken";
    holder.append(spoken);
  }
  spoken.textContent = text;
}
