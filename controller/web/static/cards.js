// The panel's second page: the hands as the shuffler recognised them, for the supervisor's eyes.
// Suits are told by their shape as well as by colour. It takes no input but the way back.

import { byId, fill, setData, setHidden, setText, slot } from "./kit/dom.js";
import { say } from "./kit/say.js";
import { STALE_MS, follow, seconds } from "./kit/stream.js";
import { writeChecks, writeColumn } from "./deal.js";

const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
const RANKS = { T: "10" };
const ADVICE = "Recognised by the shuffler. Advice only: look at the cards themselves.";
const NOTHING = "The shuffler has told nothing of this game.";

const NO_CONTACT = "No contact with the table unit for {}. Nothing on this screen can be trusted until it returns.";

let view = null;

function render(next) {
  view = next;
  const isOther = document.documentElement.lang !== view.language;
  if (isOther || document.body.dataset.software !== view.software) return location.reload();
  const deal = view.deal;
  setText(byId("round"), String(view.round));
  setText(byId("count"), deal?.hand_count ? say("{} hands dealt", deal.hand_count) : "");
  setText(byId("advice"), deal?.trouble || say(deal ? ADVICE : NOTHING));
  const hands = deal?.hands ?? [];
  setData(byId("deal"), "count", hands.length);
  fill(byId("hands"), "dealt-hand", hands.map((hand) => ({ ...hand, bet: betOf(hand.seat) })), writeHand);
  writeChecks(byId("checks"), deal);
  writeColumn(byId("cover-all"), byId("cover-count"), byId("cover-rows"), deal);
  setHidden(byId("side"), !deal?.checks.length && !deal?.cover_all.length);
}

// What was entered for the seat, or that it has a bet at all: that is what a supervisor looks for.
function betOf(seat) {
  const sensors = view.seats.find((each) => each.seat === seat)?.sensors ?? [];
  const labels = Object.fromEntries(view.games.flatMap((game) => game.hands.map((hand) => [hand.id, hand.label])));
  const entered = sensors.filter((sensor) => sensor.hand).map((sensor) => labels[sensor.hand] ?? sensor.hand);
  return entered.join(", ") || (sensors.some((sensor) => sensor.accepted) ? say("Bet in") : "");
}

function writeHand(article, hand) {
  slot(article, "who", hand.seat ? say("Seat {}", hand.seat) : say("Dealer"));
  slot(article, "bet", hand.bet);
  fill(article.querySelector("ol"), "playing-card", hand.cards, writeCard);
}

function writeCard(item, name) {
  const joker = name[0] === "J" && name[1] === "k";
  setData(item, "suit", joker ? "joker" : name.at(-1));
  slot(item, "rank", joker ? say("Joker") : (RANKS[name[0]] ?? name[0]));
  slot(item, "suit", joker ? "★" : SUITS[name.at(-1)]);
}

function renderAge(silentMs) {
  setData(document.body, "stale", silentMs > STALE_MS ? "yes" : "no");
  setText(byId("veil-text"), say(NO_CONTACT, seconds(silentMs)));
}

follow("/events", render, renderAge);
