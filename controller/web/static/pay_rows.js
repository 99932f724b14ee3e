// Who gets what, as rows of a list: the pay list, the confirm sheet and the entry preview are all
// written by this one function, so that a seat has the same lines and the same total on each.

import { fill, setData, slot } from "./kit/dom.js";
import { money } from "./kit/money.js";
import { say } from "./kit/say.js";

export function writeRows(list, rows, view) {
  const pays = paysByLabel(view);
  const marked = view.games.length > 1;
  fill(list, "pay-row", rows, (row, seat) => writeRow(row, seat, pays, marked, view.workflow));
}

// An amount that nobody knows yet makes the whole unknown; it never counts as zero.
export function total(rows) {
  const cents = rows.map((row) => row.total_cents);
  return cents.includes(null) ? null : cents.reduce((sum, each) => sum + each, 0);
}

function paysByLabel(view) {
  return new Map(view.games.flatMap((game) => game.hands.map((hand) => [`${game.letter} ${hand.label}`, payWords(game, hand)])));
}

// "100 % Mega" where a game has several meters.
const payWords = (game, hand) => (game.meters.length > 1 ? `${hand.pays} ${hand.level_label}`.trim() : hand.pays);

function writeRow(row, seat, pays, marked, workflow) {
  setData(row, "paySeat", seat.seat);
  slot(row, "seat", String(seat.seat));
  const lines = [...seat.lines].sort((a, b) => Number(a.reversed) - Number(b.reversed)); // what stands, then what does not
  fill(row.querySelector(".row-lines"), "pay-line", lines, (place, line) => writeLine(place, line, seat, pays, marked));
  const amount = row.querySelector('[data-slot="total"]');
  slot(row, "total", seat.total_cents === null ? "…" : money(seat.total_cents));
  if (seat.total_cents !== null) setData(row, "amountCents", seat.total_cents);
  if (seat.total_cents !== null) setData(amount, "amountCents", seat.total_cents);
  writePaid(row, seat, workflow);
}

// A hand that was not priced yet has no amount; its pay is written in the amount's place.
function writeLine(place, line, seat, pays, marked) {
  const priced = line.amount_cents !== null;
  slot(place, "game", marked ? line.game : "");
  slot(place, "label", line.kind === "envy" ? say("Envy") : line.label);
  slot(place, "amount", priced ? money(line.amount_cents) : (pays.get(`${line.game} ${line.label}`) ?? "…"));
  slot(place, "reversed", line.reversed ? say("reversed") : "");
  setData(place, "kind", line.kind);
  setData(place, "reversed", line.reversed ? "yes" : "no");
  setData(place, "unpriced", priced ? "no" : "yes");
  if (line.kind === "envy") setData(place, "envySeat", seat.seat);
  if (priced) setData(place, "amountCents", line.amount_cents);
}

// Rows of a claim have nothing paid yet, and no button.
function writePaid(row, seat, workflow) {
  const due = seat.due_cents ?? 0;
  const takeBack = seat.take_back_cents ?? 0;
  const tick = row.querySelector(".tick");
  tick.hidden = (due <= 0 && takeBack <= 0) || workflow === "keypad";
  tick.dataset.button = `TICK ${seat.seat}`;
  slot(row, "tick", takeBack > 0 ? say("TAKEN BACK") : say("TICK"));
  slot(row, "due", money(takeBack > 0 ? takeBack : due));
  slot(row, "paid", paidWords(seat, due));
  slot(row, "take-back", takeBack > 0 && workflow === "keypad" ? say("Take back {}", money(takeBack)) : "");
  setData(row, "state", takeBack > 0 ? "take-back" : due > 0 ? "due" : (seat.paid_cents ?? 0) > 0 ? "paid" : "none");
}

function paidWords(seat, due) {
  if (!seat.paid_cents) return "";
  const at = seat.paid_wall_ms ? clock(seat.paid_wall_ms) : "";
  if (due > 0) return at ? say("{} paid {}", money(seat.paid_cents), at) : say("{} paid", money(seat.paid_cents));
  return at ? say("✓ Paid {}", at) : say("✓ Paid");
}

export function clock(wallMs) {
  const at = new Date(wallMs);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}
