// What the shuffler's news add to a page: a claim beside its cards, and the Cover All column.

import { byId, fill, setData, setHidden, setText, slot } from "./kit/dom.js";
import { say } from "./kit/say.js";

export function writeChecks(list, deal) {
  const checks = deal?.checks ?? [];
  setHidden(list, checks.length === 0);
  fill(list, "check-line", checks, (row, check) => {
    setData(row, "agrees", check.agrees ? "yes" : "no");
    slot(row, "word", check.agrees ? say("✓ AGREES") : say("≠ DIFFERS"));
    slot(row, "sentence", check.sentence);
  });
}

export function writeColumn(box, count, list, deal) {
  const rows = deal?.cover_all ?? [];
  setHidden(box, rows.length === 0);
  setText(count, String(deal?.hand_count ?? ""));
  fill(list, "cover-row", rows, (row, line) => {
    slot(row, "label", line.label);
    slot(row, "pays", line.pays);
  });
}

// On the panel: the way to the cards, the column under a badge, the checks on the claim's sheet.
export function renderDeal(view) {
  const deal = view.deal ?? null;
  setText(byId("cards-count"), deal?.hand_count ? String(deal.hand_count) : "");
  writeColumn(byId("cover-all"), byId("cover-count"), byId("cover-rows"), deal);
  writeChecks(byId("checks"), deal);
}
