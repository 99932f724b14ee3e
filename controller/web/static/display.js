// The players' display: the meters, what they pay, and a win when one is settled. It takes no input.
// A meter that is not live says so, in turns with the last amount; it never just stands there.

import { all, byId, fill, setData, setHidden, setText, slot } from "./kit/dom.js";
import { chime } from "./chimes.js";
import { writeColumn } from "./deal.js";
import { showAmount } from "./digits.js";
import { fitBoard, fitPicture } from "./fit.js";
import { money } from "./kit/money.js";
import { say } from "./kit/say.js";
import { STALE_MS, follow, seconds } from "./kit/stream.js";

// A celebration in proportion: so many milliseconds from so many cents on. What the tray paid never
// takes the screen: it stands on the ribbon, and the meters stay.
const CELEBRATIONS = [
  [1_000_00, 20000],
  [100_00, 12000],
  [0, 7000],
];
const TURN_MS = 4000;
const CLOSED = "Jackpot closed";
const NOT_LIVE = "The amount on this display is not live.";

let view = null;
let celebratedTo = 0; // wins up to this number were celebrated, or stood there before this page
let celebrating = 0;
let celebrateUntil = 0;

function render(next) {
  const before = view;
  view = next;
  if (!fitsPage()) return reloadSoon();
  setData(document.body, "state", view.state);
  setData(document.body, "training", view.training ? "yes" : "no");
  setData(document.body, "service", view.service ? "yes" : "no");
  paint(view.theme);
  const won = before === null || standingWins(before).length !== standingWins(view).length;
  view.meters.forEach((meter) => {
    const holder = document.querySelector(`[data-meter="${meter.id}"]`);
    if (showAmount(holder, meter.shown_cents, won)) fitSoon();
  });
  renderWin(before === null);
  renderCoverAll();
  setData(document.body, "heard", "yes");
}

// A win that was taken back is no player's any more, and nobody wins in a training.
const standingWins = (of) => (of.training ? [] : of.wins.filter((win) => !win.reversed));

// A column comes and goes with the number of hands; the picture is fitted anew for it.
function renderCoverAll() {
  const box = byId("cover-all");
  const before = [box.hidden, byId("cover-rows").dataset.print].join();
  writeColumn(box, byId("cover-count"), byId("cover-rows"), view.deal);
  if (before !== [box.hidden, byId("cover-rows").dataset.print].join()) fitSoon();
}

function fitsPage() {
  const ids = (selector, name) => all(selector).map((element) => element.dataset[name]).join();
  return (
    document.body.dataset.software === view.software &&
    document.documentElement.lang === view.language &&
    document.body.dataset.title === view.title &&
    (byId("logo")?.getAttribute("d") ?? "") === view.theme.logo &&
    all("#notice span").map((notice) => notice.textContent).join() === view.notices.join() &&
    ids("[data-hand]", "hand") === view.games.flatMap((g) => g.hands.map((h) => h.id)).join() &&
    ids("[data-meter]", "meter") === view.meters.map((m) => m.id).join()
  );
}

// The house's colours; without any, the style sheet's own.
function paint({ accent, background }) {
  const style = document.documentElement.style;
  for (const [name, colour] of [["--gold", accent], ["--ground", background]]) {
    if (style.getPropertyValue(name) === colour) continue;
    if (colour) style.setProperty(name, colour);
    else style.removeProperty(name);
  }
}

let reloading = false;
function reloadSoon() {
  if (reloading) return;
  reloading = true;
  setTimeout(() => location.reload(), 300);
}

let fitting = false;
function fitSoon() {
  if (fitting) return;
  fitting = true;
  requestAnimationFrame(() => {
    fitting = false;
    fitBoard(byId("board"));
    fitPicture(byId("win-picture"));
  });
}

// The newest win is celebrated once, then stays as a ribbon until the round ends. A game that is
// opened again and a display that is switched on again bring back the ribbon alone.
function renderWin(isNewPage) {
  const win = standingWins(view).at(-1);
  if (win?.win !== celebrating) celebrateUntil = 0;
  if (!win) {
    return showRibbon(view.voided.length ? say("Game {} is void ({}). All its jackpot bets are given back.", view.round, view.void_reason) : "");
  }
  const [first, ...others] = [...win.lines].sort((a, b) => b.amount_cents - a.amount_cents);
  showRibbon(...[first, ...others].map(winText));
  if (win.win <= celebratedTo) return;
  celebratedTo = win.win;
  if (isNewPage) return;
  celebrating = win.win;
  chime("win");
  celebrateUntil = performance.now() + celebrationMs(win.lines);
  setText(byId("win-word"), others.length ? say("WINNERS") : say("WINNER"));
  setText(byId("win-seat"), seatName(first));
  setText(byId("win-hand"), first.label);
  showAmount(byId("win-amount"), first.amount_cents, true);
  fill(byId("win-more"), "win-line", moreLines(others, win.envy), (row, line) => {
    slot(row, "who", line.who);
    slot(row, "amount", money(line.amount_cents));
  });
  fitSoon();
}

function celebrationMs(lines) {
  const cents = lines.filter((line) => line.source === "meter").reduce((sum, line) => sum + line.amount_cents, 0);
  return cents ? CELEBRATIONS.find(([from]) => cents >= from)[1] : 0;
}

// Where a seat has two sensors, each is named with its letter, as on the felt.
const seatName = (line) => (view.games.length > 1 ? line.sensor : String(line.seat));

const winText = (line) => say("Seat {} won {}: {}", seatName(line), money(line.amount_cents), line.label);

function moreLines(others, envy) {
  const won = others.map((line) => ({ who: say("Seat {}: {}", seatName(line), line.label), amount_cents: line.amount_cents }));
  return [...won, ...envy.map((line) => ({ who: say("Seat {}: envy", seatName(line)), amount_cents: line.amount_cents }))];
}

// Each text is whole on its line or beside the next one, never run into it.
function showRibbon(...texts) {
  const ribbon = byId("ribbon");
  const said = texts.filter((text) => text);
  const before = ribbon.dataset.print;
  fill(ribbon, "ribbon-text", said, setText);
  setHidden(ribbon, said.length === 0);
  if (before !== ribbon.dataset.print) fitSoon();
}

function renderAges(silentMs) {
  if (view === null) return;
  const ages = view.meters.map((meter) => meter.age_ms + silentMs);
  all(".meter[data-place]").forEach((section, index) => {
    const stale = ages[index] > STALE_MS;
    if ((section.dataset.stale === "yes") !== stale) fitSoon();
    setData(section, "stale", stale ? "yes" : "no");
    slot(section, "age", stale ? say("This amount is {} old", seconds(ages[index])) : "");
  });
  setData(document.body, "show", whatToShow(silentMs > STALE_MS, ages.some((age) => age > STALE_MS)));
}

// Lost contact beats everything; a win being celebrated beats a closed jackpot.
function whatToShow(silent, anyStale) {
  const now = performance.now();
  if (!silent && now < celebrateUntil) return "win";
  const closed = silent ? say(NOT_LIVE) : (closedWords() ?? (anyStale ? say(NOT_LIVE) : null));
  if (!closed) return "meter";
  setText(byId("closed-title"), say(CLOSED));
  setText(byId("closed-text"), closed);
  return Math.floor(now / TURN_MS) % 2 ? "meter" : "closed";
}

// Why no bet is taken now, and what that means for bets that lie there already: they are only
// spoken of when there are some.
function closedWords() {
  const why = whyClosed();
  return why && view.wagers ? say("{} Bets in play are safe.", why) : why;
}

function whyClosed() {
  if (view.stop) return view.stop;
  if (view.state === "offline") return say("This table cannot reach the jackpot.");
  return view.state === "fault" ? say("This table is being looked after.") : null;
}

addEventListener("resize", fitSoon);
document.fonts?.ready.then(fitSoon);
follow("/events", render, renderAges);
fitSoon();
