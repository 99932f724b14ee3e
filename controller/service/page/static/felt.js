// The felt from the dealer's side, as SVG: a spot per sensor, its lamp, its health, its level.

const SVG = "http://www.w3.org/2000/svg";
const MARKS = { good: "✓", watch: "!", bad: "✕", unknown: "·" };

function make(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function place(index, count, row) {
  const share = count === 1 ? 0.5 : index / (count - 1);
  const angle = Math.PI - (0.06 + share * 0.88) * Math.PI;
  const radius = row ? 0.66 : 1;
  return [500 + 425 * radius * Math.cos(angle), 425 - 345 * radius * Math.sin(angle)];
}

export function drawFelt(svg, sensors, onChoose) {
  svg.replaceChildren();
  make(svg, "path", { class: "baize", d: "M20 462A480 440 0 0 1 980 462Z" });
  make(svg, "text", { class: "dealer", x: 500, y: 452, "text-anchor": "middle" }, "DEALER");
  const seats = [...new Set(sensors.map((sensor) => sensor.seat))].sort((a, b) => a - b);
  const spots = {};
  sensors.forEach((sensor) => {
    const row = sensors.filter((other) => other.seat === sensor.seat).findIndex((other) => other.id === sensor.id);
    const [x, y] = place(seats.indexOf(sensor.seat), seats.length, row);
    const group = make(svg, "g", { class: "spot", transform: `translate(${x} ${y})`, "data-sensor": sensor.id });
    if (onChoose) {
      ["role", "tabindex", "aria-label"].forEach((name, i) => group.setAttribute(name, ["button", "0", `Sensor ${sensor.id}`][i]));
      group.addEventListener("click", () => onChoose(sensor.id));
      group.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && onChoose(sensor.id));
    }
    make(group, "circle", { class: "ring", r: 44 });
    make(group, "circle", { class: "level", r: 0 });
    make(group, "circle", { class: "lamp", r: 15, cy: -8 });
    make(group, "text", { class: "name", y: 26, "text-anchor": "middle" }, sensor.id);
    make(group, "circle", { class: "badge", r: 14, cx: 34, cy: -32 });
    make(group, "text", { class: "mark", x: 34, y: -26, "text-anchor": "middle" }, MARKS.unknown);
    spots[sensor.id] = group;
  });
  return spots;
}

export function markHealth(group, health) {
  if (group.dataset.health === health) return;
  group.dataset.health = health;
  group.querySelector(".mark").textContent = MARKS[health];
}
