// What the bench offers beside the table itself: the first round step by step, another table, the
// dealer's side of the felt, and a recording.

import { byId, setAttribute, setData, setHidden, setText } from "./kit/dom.js";
import { act } from "./hands.js";

let table = null;

export function renderExtras(view) {
  if (table !== null && table !== view.table) return location.reload();
  table = view.table;
  const { step, of, text } = view.first_round;
  setText(byId("first-round-step"), `step ${step} of ${of}`);
  setText(byId("first-round-text"), text);
  setAttribute(byId("record"), "aria-pressed", view.recording > 0);
  setText(byId("record"), view.recording ? `Stop recording (${view.recording} lines)` : "Record");
  setHidden(byId("recorded"), !view.recorded);
}

export function installExtras() {
  byId("first-round-again").addEventListener("click", () => act("first-round", "again"));
  byId("first-round-close").addEventListener("click", () => setHidden(byId("first-round"), true));
  byId("tables").addEventListener("change", (event) => act("table", event.target.value));
  byId("side").addEventListener("click", turn);
  byId("record").addEventListener("click", (event) => {
    act("record", event.target.getAttribute("aria-pressed") === "true" ? "end" : "begin");
  });
}

// The print on the felt faces the players, so the dealer reads it upside down, as at a real table.
function turn() {
  const felt = document.querySelector(".felt");
  const isDealers = felt.dataset.side !== "dealer";
  setData(felt, "side", isDealers ? "dealer" : "players");
  setAttribute(byId("side"), "aria-pressed", isDealers);
}
