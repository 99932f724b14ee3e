// The table's two screens, framed: dark without power, and asked for again until they come up.
// A page of the unit says "ready" when it runs; another site's frame cannot be asked otherwise.

import { all } from "./kit/dom.js";

const ASK_AGAIN_MS = 1500;
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

const ready = new Set();
const askedAt = new Map();
let powered = null;

export function installScreens() {
  all("[data-link]").forEach((link) => (link.href = fromHere(link.href)));
  window.addEventListener("message", (event) => {
    const frame = all("iframe").find((one) => one.contentWindow === event.source);
    if (frame && event.data === "underfelt page ready") ready.add(frame.id);
  });
}

// The bench may be looked at from another machine; loopback there is not the bench's.
function fromHere(address) {
  if (!address) return "";
  const url = new URL(address, location.href);
  if (LOOPBACK.includes(url.hostname)) url.hostname = location.hostname;
  return url.href;
}

export function showScreens(power) {
  if (power !== powered) ready.clear();
  powered = power;
  all("iframe").forEach((frame) => (power ? wake(frame) : darken(frame)));
}

function wake(frame) {
  if (!frame.dataset.url || ready.has(frame.id)) return;
  const now = performance.now();
  if (now - (askedAt.get(frame.id) ?? -ASK_AGAIN_MS) < ASK_AGAIN_MS) return;
  askedAt.set(frame.id, now);
  frame.src = fromHere(frame.dataset.url);
}

function darken(frame) {
  askedAt.delete(frame.id);
  if (frame.hasAttribute("src")) frame.removeAttribute("src");
}
