// How an amount is written for people; the twin of controller/web/money.py.
// Digits are moved as text, so no amount ever passes through a fraction.

export function money(cents) {
  if (!Number.isSafeInteger(cents)) return "—";
  const digits = String(Math.abs(cents)).padStart(3, "0");
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${cents < 0 ? "-" : ""}$${whole}.${digits.slice(-2)}`;
}
