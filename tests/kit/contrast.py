"""Measures the contrast of every text on a page in Chromium, as WCAG 2 counts it.

It alone knows how a text's ground is found: the boxes that are painted under the text, from the
text outwards, blended. Of a gradient the colour that is worst for the text counts.
"""

from __future__ import annotations

AA = 4.5

TOO_FAINT = """() => {
  const channel = (v) =>
    (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ratio = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const colours = (css) => (css.match(/rgba?\\([^)]*\\)/g) ?? []).map((each) => {
    const [r, g, b, a = 1] = each.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  });
  const over = ([r, g, b, a], under) => [r, g, b].map((v, i) => v * a + under[i] * (1 - a));
  const grounds = (element) => {
    const style = getComputedStyle(element);
    const under = element.parentElement ? grounds(element.parentElement) : [[255, 255, 255]];
    const [plain] = colours(style.backgroundColor);
    const base = under.map((each) => over(plain, each));
    const image = style.backgroundImage;
    const painted = image.includes('gradient') ? colours(image) : [];
    if (!painted.length) return base;
    return painted.flatMap((each) => base.map((ground) => over(each, ground)));
  };
  const opacity = (element) => {
    let found = 1;
    for (let e = element; e; e = e.parentElement) found *= Number(getComputedStyle(e).opacity);
    return found;
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const element = text.parentElement;
    const seen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!text.textContent.trim() || !seen) continue;
    if (element.closest('template, .spoken, button:disabled')) continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const style = getComputedStyle(element);
    const [ink] = colours(style.color);
    const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
    const least = size >= 24 || (bold && size >= 18.66) ? 3.0 : 4.5;
    const alpha = ink[3] * opacity(element);
    const written = (ground) => over([...ink.slice(0, 3), alpha], ground);
    const worst = Math.min(...grounds(element).map((ground) => ratio(written(ground), ground)));
    const name = `${text.textContent.trim().slice(0, 40)} (${element.className || element.id})`;
    if (worst < least - 0.005) faint.push(`${name}: ${worst.toFixed(2)} of ${least}`);
  }
  return [...new Set(faint)];
}"""

# Buttons, and whatever else is touched, smaller than a finger.
TOO_SMALL = """() => [...document.querySelectorAll('button, summary, a.button, select, input')]
  .filter(e => e.checkVisibility({ visibilityProperty: true }))
  .map(e => [e, e.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.width < 43.9 || box.height < 43.9))
  .map(([e, box]) => `${e.textContent.trim() || e.id}: ${box.width} x ${box.height}`)"""
