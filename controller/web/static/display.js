// The players' display: the meter, what it pays, and a win when one is settled. It takes no input.
// A meter that is not live says so, in turns with the last amount; it never just stands there.

import { all, byId, setData, setHidden, setText, slot } from "./kit/dom.js";
import { showAmount } from "./digits.js";
import { money } from "./kit/money.js";
import { STALE_MS, follow, seconds } from "./kit/stream.js";

const CELEBRATE_MS = 20000;
const TURN_MS = 4000;
const CLOSED_WORDS = {
  offline: ["Progressive closed", "This table cannot reach the jackpot. Bets in play are safe."],
  fault: ["Progressive closed", "This table is being looked after. Bets in play are safe."],
  stale: ["Progressive closed", "The amount on this display is not live."],
};

let view = null;
let celebrated = null;
let celebrateUntil = 0;

function render(next) {
  view = next;
  if (!fitsPage()) return reloadSoon();
  setData(document.body, "state", view.state);
  view.meters.forEach((meter) => {
    const holder = document.querySelector(`[data-meter="${meter.id}"]`);
    showAmount(holder, meter.shown_cents);
  });
  renderWin();
}

function fitsPage() {
  const ids = (selector, name) => all(selector).map((element) => element.dataset[name]).join();
  return (
    document.body.dataset.software === view.software &&
    ids("[data-hand]", "hand") === view.games.flatMap((g) => g.hands.map((h) => h.id)).join() &&
    ids("[data-meter]", "meter") === view.meters.map((m) => m.id).join()
  );
}

let reloading = false;
function reloadSoon() {
  if (reloading) return;
  reloading = true;
  setTimeout(() => location.reload(), 300);
}

// The newest win is celebrated once, then stays as a ribbon until the round ends.
function renderWin() {
  const win = view.wins.at(-1);
  if (!win) {
    celebrated = null;
    celebrateUntil = 0;
    return setHidden(byId("ribbon"), true);
  }
  if (celebrated !== win.win) {
    celebrated = win.win;
    celebrateUntil = performance.now() + CELEBRATE_MS;
  }
  const [first, ...others] = [...win.lines].sort((a, b) => b.amount_cents - a.amount_cents);
  setText(byId("win-word"), others.length ? "WINNERS" : "WINNER");
  setText(byId("win-seat"), String(first.seat));
  setText(byId("win-hand"), first.label);
  showAmount(byId("win-amount"), first.amount_cents);
  setText(byId("win-more"), [...others.map(winText), envyText(win.envy)].filter(Boolean).join("  ·  "));
  setText(byId("ribbon"), `${winText(first)} · ${first.label}`);
  setHidden(byId("ribbon"), false);
}

const winText = (line) => `Seat ${line.seat} won ${money(line.amount_cents)}`;

function envyText(envy) {
  if (!envy.length) return "";
  const seats = envy.map((line) => `seat ${line.seat} ${money(line.amount_cents)}`);
  return `Envy: ${seats.join(", ")}`;
}

function renderAges(silentMs) {
  if (view === null) return;
  const ages = view.meters.map((meter) => meter.age_ms + silentMs);
  all(".meter[data-place]").forEach((section, index) => {
    const stale = ages[index] > STALE_MS;
    setData(section, "stale", stale ? "yes" : "no");
    slot(section, "age", stale ? `This amount is ${seconds(ages[index])} old` : "");
  });
  setData(document.body, "show", whatToShow(silentMs > STALE_MS, ages.some((age) => age > STALE_MS)));
}

// Lost contact beats everything; a win being celebrated beats a closed progressive.
function whatToShow(silent, anyStale) {
  const now = performance.now();
  if (!silent && now < celebrateUntil) return "win";
  const closed = CLOSED_WORDS[silent ? "stale" : view.state] ?? (anyStale ? CLOSED_WORDS.stale : null);
  if (!closed) return "meter";
  setText(byId("closed-title"), closed[0]);
  setText(byId("closed-text"), closed[1]);
  return Math.floor(now / TURN_MS) % 2 ? "meter" : "closed";
}

follow("/events", render, renderAges);
