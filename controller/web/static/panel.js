// The dealer's panel: writes the table's view onto the page. It decides nothing; it only shows.

import { all, byId, fill, setAttribute, setData, setHidden, setText, slot } from "./kit/dom.js";
import { money } from "./kit/money.js";
import { say } from "./kit/say.js";
import { STALE_MS, follow, seconds } from "./kit/stream.js";
import { chimeForChange } from "./chimes.js";
import { renderDeal } from "./deal.js";
import { installFind, renderFind } from "./find.js";
import { installForgotten, renderForgotten } from "./forgotten.js";
import { installJoin, renderJoin } from "./join.js";
import { installPresses, press } from "./press.js";
import { clock } from "./pay_rows.js";
import { installSheets, renderSheets } from "./sheets.js";
import { followZoom } from "./zoom.js";
import { LIGHTS, MESSAGE_KINDS, STATES } from "./words.js";

const OWN_MESSAGE_MS = 8000;
const TWO_LINES = { alone: 125, besideReopen: 90 }; // letters that surely fit
const NO_CONTACT = "No contact with the table unit for {}. Nothing on this screen can be trusted until it returns.";
let view = null;
let ownMessageUntil = 0;

function render(next) {
  chimeForChange(view, next);
  view = next;
  if (!fitsPage()) return reloadSoon();
  setData(document.body, "state", view.state);
  setData(document.body, "link", view.link);
  setData(document.body, "training", view.training ? "yes" : "no");
  setData(document.body, "service", view.service ? "yes" : "no");
  renderBar();
  view.seats.forEach(renderSeat);
  renderHands();
  if (view.has_shuffler) renderDeal(view);
  renderSheets(view);
  renderActions();
  renderJoin(view);
  renderFind(view);
  if (!ownMessageUntil) showGuide();
}

// The page was drawn for these seats, hands, meters, this notice and software. Anything else: draw it anew.
function fitsPage() {
  const ids = (selector, name) => all(selector).map((element) => element.dataset[name]).join();
  return (
    document.body.dataset.software === view.software &&
    document.documentElement.lang === view.language &&
    document.body.dataset.title === view.title &&
    document.body.dataset.workflow === view.workflow &&
    document.body.dataset.notice === view.notice &&
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
  setText(byId("state"), say(STATES[view.state] ?? view.state));
  setText(byId("round"), String(view.round));
  setText(byId("wagers"), String(view.wagers));
  setText(byId("wagers-word"), view.wagers === 1 ? say("bet") : say("bets"));
  setText(byId("link-word"), view.link === "up" ? say("up") : say("down"));
  setData(byId("link"), "tone", view.link === "up" ? "calm" : "warn");
  setText(byId("key-word"), view.key);
  setHidden(byId("key"), view.key === "");
  setData(byId("key"), "key", view.key);
  setData(byId("key"), "tone", view.key === "FAULT" ? "warn" : "calm");
  if (view.workflow === "touch") {
    setHidden(byId("reopen"), !view.can_reopen);
    if (!view.can_void) byId("void").open = false;
    setHidden(byId("void"), !view.can_void);
  }
  renderFaults();
  renderRules();
  renderLastWins();
  renderForgotten(view.last_games);
}

const noWins = () => [{ when: "", who: say("No win yet."), hand: "", amount: "", reversed: "" }];

function renderLastWins() {
  const lines = view.last_wins.flatMap((win) => win.lines.map((line) => lastWin(win, line)));
  fill(byId("last-wins-list"), "last-win", lines.length ? lines : noWins(), (row, line) => {
    Object.entries(line).forEach(([name, text]) => slot(row, name, text));
  });
}

function lastWin(win, line) {
  return {
    when: say("{} · game {}", clock(win.wall_ms), win.round),
    who: say("Seat {}", view.games.length > 1 ? line.sensor : line.seat),
    hand: line.label,
    amount: money(line.amount_cents),
    reversed: win.reversed ? say("reversed") : "",
  };
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
  setText(byId("fault-word"), view.faults.length === 1 ? say("fault") : say("faults"));
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
    setText(place.querySelector(".sensor-word"), lightWord(sensor, view.voided.includes(seat.seat)));
  });
  slot(button, "hand", handWords(seat.sensors.filter((sensor) => sensor.hand)));
}

// The spot of a void game blinks like a refused one, because its chip goes back, too. It was a bet.
// A bet whose chip was taken away after the lock stands: the lamp is amber, and nothing is late.
function lightWord({ light, accepted, presence }, isVoid) {
  if (light === "late" && accepted && presence === "absent") return say(LIGHTS.accepted);
  return light === "refused" && isVoid ? say("Give back") : say(LIGHTS[light] ?? light);
}

// Where two games are played, the letters say which bets have a hand, as on the lamps; two names
// would not fit a seat, and they stand in full in the list below.
function handWords(sensors) {
  if (sensors.length === 0) return "";
  const letters = sensors.map((sensor) => sensor.id.slice(-1)).join(" + ");
  if (view.games.length > 1) return say("Hand on {}", letters);
  return view.games[0]?.hands.find((hand) => hand.id === sensors[0].hand)?.label ?? sensors[0].hand;
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

// The table decides what comes next and what it would take now. No button is ever disabled, because
// the table answers every press with a sentence.
function renderActions() {
  const { next, lit } = view.guide;
  all("[data-button]").forEach((button) => setData(button, "lit", isLit(lit, button.dataset.button) ? "yes" : "no"));
  all(".action, .tick").forEach((button) => setData(button, "next", button.dataset.button === next ? "yes" : "no"));
}

// A button that carries a reason is lit with its plain word.
const isLit = (lit, name) => lit.includes(name) || (name.startsWith("VOID ") && lit.includes("VOID"));

function renderAges(silentMs) {
  if (view === null) return;
  setText(byId("veil-text"), say(NO_CONTACT, seconds(silentMs)));
  view.meters.forEach((meter) => {
    const amount = document.querySelector(`[data-meter="${meter.id}"]`);
    if (!amount) return;
    const ageMs = meter.age_ms + silentMs;
    setText(amount, money(meter.shown_cents));
    setData(amount, "amountCents", meter.shown_cents);
    setData(amount.closest(".meter"), "stale", ageMs > STALE_MS ? "yes" : "no");
    slot(amount.closest(".meter"), "stale", ageMs > STALE_MS ? say("STALE: {} old", seconds(ageMs)) : "");
  });
  if (ownMessageUntil && performance.now() > ownMessageUntil) showGuide();
}

function showGuide() {
  ownMessageUntil = 0;
  showMessage(view.guide.kind, view.guide.sentence);
}

function showMessage(kind, text) {
  const isNew = byId("message-text").textContent !== text;
  setData(byId("message"), "kind", kind);
  setText(byId("message-kind"), say(MESSAGE_KINDS[kind] ?? kind));
  setText(byId("message-text"), text);
  const room = document.querySelector(".reopen:not([hidden])") ? TWO_LINES.besideReopen : TWO_LINES.alone;
  setData(byId("message"), "long", text.length > room ? "yes" : "no");
  if (kind === "refused" && isNew) byId("message").animate([{ translate: "0 -0.35rem" }, { translate: "0 0" }], 180);
}

// Whoever has pressed a button of the table is done with the list, and so is whoever touches
// elsewhere.
document.addEventListener("click", ({ target }) => {
  const kept = target.closest("[data-button]") ? null : target.closest(".drop");
  setTimeout(() => all(".drop[open]").forEach((list) => (list.open = list === kept)));
});

// What the table answered to a press takes the place of whatever the page itself said last.
// Whoever is asked for what comes next, a card for one, was not refused.
function answered({ accepted, sentence, view: next, version }) {
  ownMessageUntil = 0;
  if (next) show(next, version);
  if (accepted || (view?.guide.sentence === sentence && view.guide.kind === "info")) return true;
  if (view?.guide.sentence !== sentence) showRefusal(sentence);
  return false;
}

// The table unit did not take the press at all, or did not answer.
function showRefusal(sentence) {
  ownMessageUntil = performance.now() + OWN_MESSAGE_MS;
  showMessage("refused", sentence);
}

// What the page itself asks for while seats are being joined; nothing gives the table's own word back.
function tell(text) {
  if (text === "") return showGuide();
  ownMessageUntil = Infinity;
  showMessage("info", text);
}

// The dealer's switch: the table changes the panel's language, and the page is drawn anew.
byId("language").addEventListener("click", async () => {
  await fetch("/language", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  location.reload();
});

const show = follow("/events", render, renderAges);
followZoom();
installPresses(answered);
installSheets({ view: () => view, render: () => renderSheets(view) });
installJoin(press, tell);
installFind(press, tell);
installForgotten();
