// What is to be paid: the preview while hands are entered, the confirm sheet, the list to pay now.

import { byId, fill, setAttribute, setData, setHidden, setText, slot } from "./kit/dom.js";
import { money } from "./kit/money.js";
import { prompt } from "./words.js";

export function renderSheets(view) {
  const claim = view.claim;
  const preview = claim !== null && claim.stage === "preview";
  const paid = claim === null && view.wins.length > 0;
  setData(byId("well"), "show", preview ? "preview" : paid ? "paid" : "meters");
  setHidden(byId("preview"), !preview);
  setHidden(byId("paid"), !paid);
  setHidden(byId("sheet"), claim === null || preview);
  if (preview) renderPreview(claim, view);
  if (paid) renderPaid(view.wins);
  if (claim !== null && !preview) renderSheet(claim, view);
}

// A hand that was not priced yet has no amount; its pay is written in the amount's place.
function payLine(pays) {
  return (row, line) => {
    slot(row, "order", String(line.order));
    slot(row, "seat", seatName(line));
    slot(row, "hand", line.label);
    const priced = Number.isSafeInteger(line.amount_cents) && line.amount_cents > 0;
    slot(row, "amount", priced ? money(line.amount_cents) : (pays.get(line.hand) ?? "…"));
    const amount = row.querySelector('[data-slot="amount"]');
    amount.dataset.unpriced = priced ? "no" : "yes";
    row.dataset.paySeat = line.seat;
    if (priced) amount.dataset.amountCents = row.dataset.amountCents = line.amount_cents;
  };
}

function envyLine(row, line) {
  slot(row, "seat", seatName(line));
  slot(row, "amount", money(line.amount_cents));
  row.dataset.envySeat = line.seat;
  row.dataset.amountCents = line.amount_cents;
}

// Only a seat with a second sensor needs its letter.
function seatName(line) {
  return line.sensor.endsWith("A") ? String(line.seat) : line.sensor;
}

function paysByHand(view) {
  return new Map(view.games.flatMap((game) => game.hands.map((hand) => [hand.id, hand.pays])));
}

const sum = (lines) => lines.reduce((total, line) => total + line.amount_cents, 0);

function renderPreview(claim, view) {
  const count = claim.lines.length;
  setText(byId("preview-title"), count === 1 ? "1 hand entered" : `${count} hands entered`);
  fill(byId("preview-lines"), "pay-line", claim.lines, payLine(paysByHand(view)));
  const keypad = view.workflow === "keypad" && claim.role !== "DEALER";
  const next = keypad ? prompt({ ...claim, stage: "authorise" }, "keypad", view.key)[0] : "Press CONFIRM";
  const open = claim.lines.some((line) => line.amount_cents === null);
  const pricing = open ? "; the Game Manager prices what has no amount yet" : "";
  setText(byId("preview-prompt"), `${next}; the same hand again takes it back${pricing}`);
}

function renderPaid(wins) {
  const lines = wins.flatMap((win) => win.lines);
  const envy = wins.flatMap((win) => win.envy);
  fill(byId("paid-lines"), "pay-line", lines, payLine(new Map()));
  fill(byId("paid-envy"), "envy-line", envy, envyLine);
  setHidden(byId("paid-envy-row"), envy.length === 0);
  setText(byId("paid-total"), money(sum(lines) + sum(envy)));
}

function renderSheet(claim, view) {
  const priced = claim.stage !== "pricing";
  fill(byId("lines"), "pay-line", claim.lines, payLine(paysByHand(view)));
  fill(byId("envy"), "envy-line", claim.envy, envyLine);
  setHidden(byId("envy-none"), claim.envy.length > 0);
  setHidden(byId("envy-sum"), claim.envy.length === 0);
  writeAmount(byId("total"), priced ? claim.total_cents : null);
  writeAmount(byId("envy-total"), sum(claim.envy));
  renderAsk(claim, view);
}

function writeAmount(element, cents) {
  setText(element, cents === null ? "…" : money(cents));
  if (cents !== null) setData(element, "amountCents", cents);
}

function renderAsk(claim, view) {
  const [text, note] = prompt(claim, view.workflow, view.key);
  setData(byId("ask"), "stage", claim.stage);
  setText(byId("ask-text"), text);
  setText(byId("ask-note"), note);
  setAttribute(byId("ask-mark"), "href", `#mark-${markFor(claim, view.workflow)}`);
  setText(byId("final"), finality(claim));
}

function markFor(claim, workflow) {
  if (claim.stage === "pricing" || claim.stage === "recording") return "wait";
  if (claim.role === "DEALER" && claim.stage !== "return-key") return "press";
  return workflow === "keypad" ? "key" : "card";
}

function finality(claim) {
  if (claim.stage === "pricing") return "";
  return claim.final ? "The amounts are fixed." : "Quoted now. The amounts are fixed when the win is recorded.";
}
