// What is to be paid: the preview while hands are entered, the confirm sheet, the list to pay now.

import { all, byId, setAttribute, setData, setHidden, setText } from "./kit/dom.js";
import { money } from "./kit/money.js";
import { say } from "./kit/say.js";
import { installPages, layPages } from "./pages.js";
import { total, writeRows } from "./pay_rows.js";

// Large, for whoever stands behind the dealer; the sentence below says the rest.
const ASKS = { pricing: "Asking for the amount", recording: "Recording the win", "return-key": "Turn the key back to RUN" };
const NO_LINK = "Waiting for the link";
const NO_CARD = "No card is taken now";
const SWIPES = { DEALER: "Press CONFIRM", SUPERVISOR: "Swipe SUPERVISOR card", EXECUTIVE: "Swipe EXECUTIVE card" };

let foldedAbout = null; // what the pay list was about when the dealer put it away

export function installSheets(again) {
  all(".paged").forEach(installPages);
  byId("pay-fold").addEventListener("click", () => fold(payAbout(again.view().pay), again));
  byId("pay-show").addEventListener("click", () => fold(null, again));
}

function fold(about, again) {
  foldedAbout = about;
  again.render();
}

export function renderSheets(view) {
  const claim = view.claim;
  const preview = claim !== null && claim.stage === "preview";
  const pay = claim === null ? view.pay : null;
  const listed = pay !== null && !isAside(view, pay);
  setData(byId("well"), "show", preview ? "preview" : pay && !listed ? "aside" : "meters");
  setHidden(byId("preview"), !preview);
  setHidden(byId("pay-show"), pay === null || listed);
  setHidden(byId("pay-list"), !listed);
  setHidden(byId("sheet"), claim === null || preview);
  if (preview) renderPreview(claim, view);
  if (pay !== null) renderPay(pay, view);
  if (claim !== null && !preview) renderSheet(claim, view);
}

// The dealer put the list away to enter another hand, or is entering one: a new amount or a tick
// brings it back.
function isAside(view, pay) {
  if (pay.total_cents === 0 && pay.take_back_cents === 0) return true; // every win was reversed
  return view.seats.some((seat) => seat.selected) || foldedAbout === payAbout(pay);
}

const payAbout = (pay) => JSON.stringify([pay?.total_cents, pay?.paid_cents]);

function renderPreview(claim, view) {
  const count = claim.lines.length;
  setText(byId("preview-title"), count === 1 ? say("1 hand entered") : say("{} hands entered", count));
  const hands = claim.rows.map((row) => ({ ...row, lines: row.lines.filter((line) => line.kind === "award") }));
  writeRows(byId("preview-lines"), hands.filter((row) => row.lines.length > 0), view);
  const open = claim.lines.some((line) => line.amount_cents === null);
  setText(byId("preview-note"), open ? say("The Game Manager prices what has no amount yet.") : "");
  layPages(byId("preview"), "preview");
}

function renderPay(pay, view) {
  writeRows(byId("pay-rows"), pay.rows, view);
  writeAmount(byId("pay-total"), pay.total_cents);
  writeAmount(byId("pay-due"), pay.due_cents);
  setHidden(byId("pay-due-box"), pay.due_cents === null);
  setData(byId("pay-list"), "due", pay.due_cents === 0 ? "no" : "yes");
  writeAmount(byId("pay-take-back"), pay.take_back_cents);
  setHidden(byId("pay-take-back-box"), pay.take_back_cents === 0);
  setText(byId("pay-title"), payTitle(pay));
  setText(byId("pay-show-due"), pay.due_cents === 0 ? "" : money(pay.due_cents ?? pay.total_cents));
  layPages(byId("pay-list"), String(view.round));
}

function payTitle(pay) {
  if (pay.due_cents !== 0) return say("Pay now");
  return pay.take_back_cents > 0 ? say("Take back") : say("All paid");
}

function renderSheet(claim, view) {
  const rows = claim.stage === "pricing" ? unpriced(claim.rows, view) : claim.rows;
  writeRows(byId("lines"), rows, view);
  writeAmount(byId("total"), total(rows));
  renderAsk(claim, view);
  layPages(byId("sheet"), String(claim.number));
}

// Before the Game Manager has answered, a share of a jackpot is no amount: only its percentage is known.
function unpriced(rows, view) {
  const shares = view.games.flatMap((game) => game.hands.filter((hand) => hand.amount_cents === null).map((hand) => `${game.letter} ${hand.label}`));
  const isShare = (line) => line.kind === "award" && shares.includes(`${line.game} ${line.label}`);
  return rows.map((row) => {
    const lines = row.lines.map((line) => (isShare(line) ? { ...line, amount_cents: null } : line));
    return { ...row, lines, total_cents: lines.some((line) => line.amount_cents === null) ? null : row.total_cents };
  });
}

function writeAmount(element, cents) {
  setText(element, cents === null ? "…" : money(cents));
  if (cents !== null) setData(element, "amountCents", cents);
}

function renderAsk(claim, view) {
  setData(byId("ask"), "stage", claim.stage);
  setText(byId("ask-text"), say(askFor(claim, view)));
  setAttribute(byId("ask-mark"), "href", `#mark-${markFor(claim, view)}`);
  setText(byId("final"), finality(claim));
}

// Never what cannot be done now: nobody is asked while the link is down, nor a card while none is taken.
function askFor(claim, view) {
  if (needsLink(claim) && view.link !== "up") return NO_LINK;
  return ASKS[claim.stage] ?? (view.guide.ends_ms === null ? SWIPES[claim.role] : NO_CARD);
}

// The Game Manager prices, judges cards and records; only a key is judged here.
const needsLink = (claim) => claim.stage !== "return-key";
const isWaiting = (claim) => claim.stage === "pricing" || claim.stage === "recording";

function markFor(claim, view) {
  const workflow = view.workflow;
  if (isWaiting(claim) || view.guide.ends_ms !== null || (needsLink(claim) && view.link !== "up")) return "wait";
  if (claim.role === "DEALER" && claim.stage !== "return-key") return "press";
  return workflow === "keypad" ? "key" : "card";
}

function finality(claim) {
  if (claim.stage === "pricing") return "";
  return claim.final ? say("The amounts are fixed.") : say("Quoted now. The amounts are fixed when the win is recorded.");
}
