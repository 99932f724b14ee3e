// The dealer's panel: writes the table's view onto the page. It decides nothing; it only shows.

import { all, byId, fill, setAttribute, setData, setHidden, setText, slot } from "./kit/dom.js";
import { money } from "./kit/money.js";
import { STALE_MS, follow, seconds } from "./kit/stream.js";
import { installJoin, renderJoin } from "./join.js";
import { installPresses, press } from "./press.js";
import { renderSheets } from "./sheets.js";
import { LIGHTS, MESSAGE_KINDS, STATES, hint } from "./words.js";

const OWN_MESSAGE_MS = 8000;
let view = null;
let shownMessageId = null;
let ownMessageUntil = 0;

function render(next) {
  view = next;
  if (!fitsPage()) return reloadSoon();
  setData(document.body, "state", view.state);
  setData(document.body, "link", view.link);
  renderBar();
  view.seats.forEach(renderSeat);
  renderHands();
  renderSheets(view);
  renderActions();
  renderJoin(view);
  if (view.message.id !== shownMessageId || showsHint()) showViewMessage();
}

const showsHint = () => byId("message").dataset.hint === "yes";

// The page was drawn for these seats, hands, meters and this software. Anything else: draw it anew.
function fitsPage() {
  const ids = (selector, name) => all(selector).map((element) => element.dataset[name]).join();
  return (
    document.body.dataset.software === view.software &&
    document.body.dataset.workflow === view.workflow &&
    ids(".sensor", "sensor") === view.seats.flatMap((s) => s.sensors.map((x) => x.id)).join() &&
    ids(".hand", "hand") === view.games.flatMap((g) => g.hands.map((h) => h.id)).join() &&
    ids(".meter-amount", "meter") === view.meters.map((m) => m.id).join()
  );
}

let reloading = false;
function reloadSoon() {
  if (reloading) return;
  reloading = true;
  setTimeout(() => location.reload(), 300);
}

function renderBar() {
  setText(byId("state"), STATES[view.state] ?? view.state);
  setText(byId("round"), String(view.round));
  setText(byId("wagers"), String(view.wagers));
  setText(byId("wagers-word"), view.wagers === 1 ? "bet" : "bets");
  setText(byId("link-word"), view.link);
  setData(byId("link"), "tone", view.link === "up" ? "calm" : "warn");
  setText(byId("key-word"), view.key);
  setHidden(byId("key"), view.key === "");
  setData(byId("key"), "key", view.key);
  setData(byId("key"), "tone", view.key === "FAULT" ? "warn" : "calm");
  renderFaults();
  renderRules();
}

function renderRules() {
  setHidden(byId("rules"), view.house_rules.length === 0);
  fill(byId("rules-list"), "rule-line", view.house_rules, (row, rule) => {
    slot(row, "game", view.games.length > 1 ? rule.game : "");
    slot(row, "text", rule.text);
  });
}

function renderFaults() {
  setHidden(byId("faults"), view.faults.length === 0);
  setText(byId("fault-count"), String(view.faults.length));
  setText(byId("fault-word"), view.faults.length === 1 ? "fault" : "faults");
  fill(byId("fault-list"), "fault-line", view.faults, (row, fault) => {
    slot(row, "part", fault.part);
    slot(row, "text", fault.text);
  });
}

function renderSeat(seat) {
  const button = document.querySelector(`[data-seat="${seat.seat}"]`);
  setAttribute(button, "aria-pressed", seat.selected);
  seat.sensors.forEach((sensor) => {
    const place = button.querySelector(`[data-sensor="${sensor.id}"]`);
    setData(place, "light", sensor.light);
    setData(place, "accepted", sensor.accepted);
    setAttribute(place.querySelector("use"), "href", `#lamp-${sensor.light}`);
    setText(place.querySelector(".sensor-word"), LIGHTS[sensor.light] ?? sensor.light);
  });
  const hands = seat.sensors.filter((sensor) => sensor.hand).map((sensor) => handLabel(sensor.hand));
  slot(button, "hand", hands.join(" + "));
}

function handLabel(id) {
  const hands = view.games.flatMap((game) => game.hands);
  return hands.find((hand) => hand.id === id)?.label ?? id;
}

function renderHands() {
  const selected = view.seats.filter((seat) => seat.selected);
  const sensors = selected.flatMap((seat) => seat.sensors).filter((sensor) => sensor.hand);
  const entered = new Set(sensors.map((sensor) => `${sensor.id.slice(-1)} ${sensor.hand}`));
  all(".hand").forEach((button) => {
    const game = button.closest("[data-game]").dataset.game;
    setAttribute(button, "aria-pressed", entered.has(`${game} ${button.dataset.hand}`));
  });
}

// Which button is lit as the next step; none of them is ever disabled, because the table answers
// every press with a sentence.
function renderActions() {
  const next = nextAction();
  all(".action").forEach((button) => setData(button, "next", button.dataset.button === next ? "yes" : "no"));
}

function nextAction() {
  if (view.claim) return nextForClaim(view.claim);
  if (view.state === "locked") return "END";
  const lights = view.seats.flatMap((seat) => seat.sensors.map((sensor) => sensor.light));
  return view.state === "open" && lights.includes("detected") ? "START" : "";
}

function nextForClaim(claim) {
  if (claim.stage !== "preview" && claim.stage !== "authorise") return "";
  if (claim.role === "DEALER") return "CONFIRM";
  if (view.workflow === "keypad") return view.key === "JPH" ? "JPOT" : "";
  return claim.stage === "preview" ? "CONFIRM" : "";
}

function renderAges(silentMs) {
  if (view === null) return;
  setText(byId("veil-age"), seconds(silentMs));
  view.meters.forEach((meter) => {
    const amount = document.querySelector(`[data-meter="${meter.id}"]`);
    if (!amount) return;
    const ageMs = meter.age_ms + silentMs;
    setText(amount, money(meter.shown_cents));
    setData(amount, "amountCents", meter.shown_cents);
    setData(amount.closest(".meter"), "stale", ageMs > STALE_MS ? "yes" : "no");
    slot(amount.closest(".meter"), "stale", ageMs > STALE_MS ? `STALE: ${seconds(ageMs)} old` : "");
  });
  if (ownMessageUntil && performance.now() > ownMessageUntil) showViewMessage();
}

function showViewMessage() {
  ownMessageUntil = 0;
  shownMessageId = view.message.id;
  const text = view.message.text || hint(view);
  showMessage(view.message.text ? view.message.kind : "info", text);
  setData(byId("message"), "hint", view.message.text ? "no" : "yes");
}

function showMessage(kind, text) {
  setData(byId("message"), "kind", kind);
  setText(byId("message-kind"), MESSAGE_KINDS[kind] ?? kind);
  setText(byId("message-text"), text);
  if (kind === "refused") byId("message").animate([{ translate: "0 -0.35rem" }, { translate: "0 0" }], 180);
}

function showRefusal(sentence) {
  ownMessageUntil = performance.now() + OWN_MESSAGE_MS;
  setData(byId("message"), "hint", "no");
  showMessage("refused", sentence);
}

// What the page itself asks for while seats are being joined; nothing gives the table's own word back.
function say(text) {
  if (text === "") return showViewMessage();
  ownMessageUntil = Infinity;
  setData(byId("message"), "hint", "no");
  showMessage("info", text);
}

installPresses(showRefusal);
installJoin((button, name) => press(button, name, showRefusal), say);
follow("/events", render, renderAges);
