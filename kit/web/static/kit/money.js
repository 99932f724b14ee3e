// How an amount is written for people; the twin of kit/words/numbers.py, by the page's own signs.
// Digits are moved as text, so no amount ever passes through a fraction.

const { symbol, group, decimal } = JSON.parse(
  document.documentElement.dataset.numbers ?? '{"symbol": "$", "group": ",", "decimal": "."}',
);

export function money(cents) {
  if (!Number.isSafeInteger(cents)) return "—";
  const digits = String(Math.abs(cents)).padStart(3, "0");
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, group);
  return `${cents < 0 ? "-" : ""}${symbol}${whole}${decimal}${digits.slice(-2)}`;
}
