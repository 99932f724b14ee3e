// The display's own figures, drawn as strokes, so that the jackpot looks the same on every monitor
// whatever fonts a unit has. Each figure turns over by itself; the exact text stays in the page for
// anyone who reads it otherwise.

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
};
const WIDTHS = { ",": 22, ".": 22, "-": 56 };
const WIDTH = 62;
const LENGTH_FULL = 10; // "$99,999.99" fills the screen; longer amounts are drawn smaller

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
  box.dataset.kind = WIDTHS[name] ? "point" : "figure";
  box.dataset.glyph = name;
  box.append(glyph(name));
  return box;
}

function turnOver(box, name, upwards) {
  const from = upwards ? "100%" : "-100%";
  const away = upwards ? "-100%" : "100%";
  const options = { duration: 420, easing: "cubic-bezier(.3,.9,.3,1)" };
  const old = box.lastElementChild;
  const fresh = glyph(name);
  while (box.childElementCount > 1) box.firstElementChild.remove();
  box.dataset.glyph = name;
  box.append(fresh);
  fresh.animate([{ translate: `0 ${from}` }, { translate: "0 0" }], options);
  old.animate([{ translate: "0 0" }, { translate: `0 ${away}` }], options).onfinish = () => old.remove();
}

// Shows `cents` in `holder`; figures that differ turn over, upwards when the amount grows.
export function showAmount(holder, cents) {
  if (holder.dataset.drawn === String(cents)) return;
  const text = money(cents);
  const strip = holder.querySelector(".strip");
  if (strip?.childElementCount === text.length) turnFigures(strip, text, cents > Number(holder.dataset.drawn));
  else drawStrip(holder, strip, text);
  holder.dataset.drawn = holder.dataset.amountCents = String(cents);
  speak(holder, text);
}

function turnFigures(strip, text, upwards) {
  [...text].forEach((name, index) => {
    const box = strip.children[index];
    if (box.dataset.glyph !== name) turnOver(box, name, upwards);
  });
}

function drawStrip(holder, old, text) {
  old?.remove();
  const strip = document.createElement("span");
  strip.className = "strip";
  strip.setAttribute("aria-hidden", "true");
  strip.style.setProperty("--fit", String(Math.min(1, LENGTH_FULL / text.length)));
  strip.append(...[...text].map(cell));
  holder.append(strip);
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
