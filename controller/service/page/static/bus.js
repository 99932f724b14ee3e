// Who should answer on each bus, who does, what went wrong so far, and the faults that are up.

import { byId } from "./kit/dom.js";
import { verdicts } from "./tests.js";

function fillRows(body, rows) {
  const print = JSON.stringify(rows);
  if (body.dataset.print === print) return;
  body.dataset.print = print;
  body.replaceChildren(
    ...rows.map((cells) => {
      const row = document.createElement("tr");
      row.dataset.state = cells.state ?? "";
      row.append(...cells.texts.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
      return row;
    }),
  );
}

const hex = (address) => `0x${address.toString(16).toUpperCase().padStart(2, "0")}`;
const WORDS = { answers: "✓ answers", silent: "✕ silent: check its cable and supply", stranger: "? somebody the table's file does not know" };

export function renderBus(view) {
  const found = view.scan.map((each) => ({ state: each.state, texts: [each.place, hex(each.address), each.name ? `${each.name} (${each.kind})` : "nobody", WORDS[each.state] ?? each.state] }));
  fillRows(byId("scan"), found.length ? found : [{ texts: ["Not scanned yet.", "", "", ""] }]);
  fillRows(byId("counters"), view.counters.map((each) => ({ state: each.faults ? "silent" : "", texts: [String(each.bus), String(each.faults), each.recoveries ?? "–", each.freed ?? "–", each.last_recovery || each.last_fault || ""] })));
}

export function renderFaults(view) {
  const rows = view.faults.map((fault) => ({ part: fault.part, word: "FAULT", sentence: fault.text, passed: "no" }));
  verdicts(byId("faults"), rows.length ? rows : [{ part: "", word: "ok", sentence: "No fault is up.", passed: "yes" }]);
}
