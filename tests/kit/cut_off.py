"""Finds text on a page in Chromium that cannot be seen whole."""

from __future__ import annotations

# A page has heard that its window has another size, and has laid itself out for it.
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

# Every piece of text that leaves the screen or the box it was written into: what leaves its box is
# cut off, or lies under its neighbour. What a closed <details> holds is laid out and not shown. A
# sheet that drops from its button is a box of its own: it need not stay above that button.
CUT_OFF = """selector => {
  const cut = [];
  const display = e => getComputedStyle(e).display;
  const boxed = e => !['inline', 'contents'].includes(display(e));
  const clips = e => ['hidden', 'clip', 'auto', 'scroll'].includes(getComputedStyle(e).overflowY);
  const beside = (box, area) => box.left < area.left - 1 || box.right > area.right + 1;
  const outside = (box, area) =>
    beside(box, area) || box.top < area.top - 1 || box.bottom > area.bottom + 1;
  const shown = e =>
    e.checkVisibility() || (display(e) === 'contents' && shown(e.parentElement));
  const drops = e => ['absolute', 'fixed'].includes(getComputedStyle(e).position);
  const screen = {left: 0, top: 0, right: innerWidth, bottom: innerHeight};
  for (const root of document.querySelectorAll(selector)) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      if (!text.textContent.trim() || !shown(text.parentElement)) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      for (const box of range.getClientRects()) {
        let hides = outside(box, screen);
        let held = true;
        for (let e = text.parentElement; e; e = e.parentElement) {
          const area = e.getBoundingClientRect();
          if (boxed(e)) hides ||= clips(e) ? outside(box, area) : held && beside(box, area);
          held &&= !drops(e);
        }
        if (hides) cut.push(text.textContent.trim());
      }
    }
  }
  return cut;
}"""

# The pages of a list, from the first to the last: whose rows they show, and what is cut off there.
EVERY_PAGE = f"""async box => {{
  await {FRAMES};
  const cutOff = {CUT_OFF};
  const found = {{seats: [], cut: []}};
  const turn = way => document.querySelector(`${{box}} [data-turn=${{way}}]`);
  const turns = way => turn(way).checkVisibility() && !turn(way).disabled;
  const rows = () => [...document.querySelectorAll(`${{box}} .pay-row`)];
  while (turns('back')) turn('back').click();
  for (;;) {{
    found.cut.push(...cutOff(box));
    const shown = rows().filter(row => row.checkVisibility());
    found.seats.push(...shown.map(row => Number(row.dataset.paySeat)));
    if (!turns('on')) return found;
    turn('on').click();
  }}
}}"""
