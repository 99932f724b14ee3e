// Pages of a list that may not scroll: as many whole rows as the list is high, and "2 of 3".
// Rows are measured, not counted, because a seat may have one line or many.

import { all, setHidden, setText } from "./kit/dom.js";
import { say } from "./kit/say.js";

const shown = new WeakMap(); // list: the page that is looked at, and what it was opened for

// `about` names what the list is about; another subject begins at the first page.
export function layPages(box, about) {
  const list = box.querySelector(".pay-rows");
  const before = shown.get(list);
  const page = before && before.about === about ? before.page : 0;
  shown.set(list, { about, page: 0 });
  turnTo(box, page);
}

export function installPages(box) {
  const list = box.querySelector(".pay-rows");
  const turn = (step) => turnTo(box, (shown.get(list)?.page ?? 0) + step);
  box.querySelector("[data-turn=back]").addEventListener("click", () => turn(-1));
  box.querySelector("[data-turn=on]").addEventListener("click", () => turn(1));
  addEventListener("resize", () => turn(0));
}

function turnTo(box, wanted) {
  const list = box.querySelector(".pay-rows");
  if (box.closest("[hidden]") || !shown.has(list)) return;
  const nav = box.querySelector(".turn");
  const rows = [...list.children];
  setHidden(nav, true);
  let pages = split(list, rows);
  setHidden(nav, pages.length < 2);
  if (pages.length > 1) pages = split(list, rows); // the page numbers may take room from the rows
  const page = Math.max(0, Math.min(wanted, pages.length - 1));
  shown.get(list).page = page;
  rows.forEach((row) => setHidden(row, !pages[page].includes(row)));
  setText(box.querySelector(".turn-page"), say("{} of {}", page + 1, pages.length));
  all("[data-turn]", box).forEach((button) => {
    button.disabled = button.dataset.turn === "back" ? page === 0 : page === pages.length - 1;
  });
}

function split(list, rows) {
  rows.forEach((row) => setHidden(row, false));
  // Zoomed in, the list is as high as its rows, and the window scrolls.
  const isWhole = document.documentElement.dataset.zoomed === "yes";
  const room = isWhole ? Infinity : list.getBoundingClientRect().height;
  const pages = [[]];
  let used = 0;
  for (const row of rows) {
    const height = row.getBoundingClientRect().height;
    if (used + height > room + 0.5 && pages.at(-1).length > 0) {
      pages.push([]);
      used = 0;
    }
    pages.at(-1).push(row);
    used += height;
  }
  return pages;
}
