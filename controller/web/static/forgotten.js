// A forgotten win: the game it belongs to, then why it was not entered. The table asks for the card.

import { all, byId, fill, setAttribute, setData, setHidden, setText } from "./kit/dom.js";
import { say } from "./kit/say.js";
import { clock } from "./pay_rows.js";

let chosen = 0; // the game whose win was forgotten, 0 while nobody has said

export function installForgotten() {
  byId("forgotten")?.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button?.dataset.number) choose(Number(button.dataset.number));
    if (button?.dataset.reason) putAway();
  });
}

export function renderForgotten(games) {
  if (byId("forgotten") === null) return;
  setHidden(byId("forgotten"), games.length === 0);
  if (!games.some((game) => game.round === chosen)) choose(0);
  fill(byId("forgotten-games"), "forgotten-game", games, (button, game) => {
    setData(button, "number", game.round);
    setAttribute(button, "aria-pressed", game.round === chosen);
    setText(button, say("Game {} · {}", game.round, clock(game.wall_ms)));
  });
}

function choose(number) {
  chosen = number;
  setHidden(byId("forgotten-reasons"), number === 0);
  all("#forgotten-games button").forEach((button) => setAttribute(button, "aria-pressed", button.dataset.number === String(number)));
  all("#forgotten-reasons button").forEach((button) => {
    if (number) setData(button, "button", `FORGOTTEN ${number} ${button.dataset.reason}`);
    else delete button.dataset.button;
  });
}

// After the press itself, which the document hears next.
function putAway() {
  setTimeout(() => {
    byId("last-wins").open = false;
    choose(0);
  });
}
