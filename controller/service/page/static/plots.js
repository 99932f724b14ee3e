// The two kinds of live plot, and the one of a trace, on uPlot.

const SPAN_S = 20;
export const INK = { raw: "#f2cc6b", ref: "#8fd3ff", limit: "#6f9a86", chip: "#ffffff", grid: "#22392f", text: "#b3c2b8" };
const AXIS = { stroke: INK.text, grid: { stroke: INK.grid, width: 1 }, ticks: { show: false }, font: "12px sans-serif" };
const dashed = (label, stroke) => ({ label, stroke, width: 1, dash: [5, 4], points: { show: false } });
const solid = (label, stroke) => ({ label, stroke, width: 1.5, points: { show: false } });

function sized(holder, make) {
  const plot = make(Math.max(80, holder.clientWidth), Math.max(40, holder.clientHeight));
  const watch = new ResizeObserver(() => plot.setSize({ width: Math.max(80, holder.clientWidth), height: Math.max(40, holder.clientHeight) }));
  watch.observe(holder);
  return { plot, end: () => (watch.disconnect(), plot.destroy()) };
}

const constant = (ages, value) => ages.map(() => value);

export function bigPlot(holder, sensor) {
  const { plot, end } = sized(holder, (width, height) =>
    new uPlot(
      {
        width, height, cursor: { show: false }, legend: { show: false },
        scales: { x: { time: false, range: () => [-SPAN_S, 0] }, y: { range: (_, low, high) => (low === null ? [0, 1] : [low - (high - low) * 0.1 - 2, high + (high - low) * 0.1 + 2]) } },
        axes: [{ ...AXIS, values: (_, marks) => marks.map((mark) => `${mark} s`) }, { ...AXIS, size: 55 }],
        series: [{}, solid("raw counts", INK.raw), dashed("reference", INK.ref), dashed("empty to here", INK.limit), dashed("a chip from here", INK.chip), dashed("to here", INK.chip)],
      },
      [[], [], [], [], [], []],
      holder,
    ),
  );
  const below = (refs, chips) => refs.map((ref) => (ref === null ? null : ref - chips * sensor.chip));
  return {
    show: (ages, kept) => plot.setData([ages, kept.raw, kept.ref, below(kept.ref, sensor.empty_max), below(kept.ref, sensor.chip_min), below(kept.ref, sensor.chip_max)]),
    destroy: end,
  };
}

export function smallPlot(holder, sensor) {
  let seen = true;
  new IntersectionObserver((entries) => (seen = entries.at(-1).isIntersecting)).observe(holder);
  const { plot } = sized(holder, (width, height) =>
    new uPlot(
      {
        width, height, cursor: { show: false }, legend: { show: false }, padding: [2, 0, 2, 0],
        scales: { x: { time: false, range: () => [-SPAN_S, 0] }, y: { range: (_, low, high) => [Math.min(-0.3, low ?? 0), Math.max(1.5, high ?? 0)] } },
        axes: [{ show: false }, { show: false }],
        series: [{}, solid("level", INK.raw), dashed("empty", INK.limit), dashed("chip", INK.chip)],
      },
      [[], [], [], []],
      holder,
    ),
  );
  return {
    isSeen: () => seen,
    show: (ages, levels) => plot.setData([ages, levels, constant(ages, sensor.empty_max), constant(ages, sensor.chip_min)]),
  };
}

export const COLOURS = ["#f2cc6b", "#8fd3ff", "#ff9d8a", "#9be37f", "#d9a7ff", "#ffffff", "#ffb224", "#6fe0d0", "#ff7ab8", "#c3d36a", "#8aa2ff", "#e0e0e0", "#d08c4a", "#7fd0a0"];

// Times from START in s, a level per sensor; returns a function that moves the cursor's line.
export function tracePlot(holder, sensors) {
  const joined = uPlot.join(sensors.map((sensor) => [sensor.t.map((ms) => ms / 1000), sensor.level]));
  let at = null;
  const line = (plot) => {
    const context = plot.ctx;
    for (const [second, colour] of [[0, "#ffffff"], [at, "#ffb224"]]) {
      if (second === null) continue;
      const x = plot.valToPos(second, "x", true);
      context.save();
      context.strokeStyle = colour;
      context.beginPath();
      context.moveTo(x, plot.bbox.top);
      context.lineTo(x, plot.bbox.top + plot.bbox.height);
      context.stroke();
      context.restore();
    }
  };
  const { plot, end } = sized(holder, (width, height) =>
    new uPlot(
      {
        width, height, cursor: { drag: { x: true, y: false } }, legend: { show: false },
        hooks: { draw: [line] },
        scales: { x: { time: false } },
        axes: [{ ...AXIS, values: (_, marks) => marks.map((mark) => `${mark} s`) }, { ...AXIS, size: 45 }],
        series: [{ label: "s from START" }, ...sensors.map((sensor, index) => ({ ...solid(sensor.id, COLOURS[index % COLOURS.length]), spanGaps: true }))],
      },
      joined,
      holder,
    ),
  );
  return { end, move: (second) => ((at = second), plot.redraw(false)), span: [joined[0][0], joined[0].at(-1)] };
}
