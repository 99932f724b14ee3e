// A live page: puts the parts the server rendered in their places, and says when they are old.

import { follow, seconds } from "./kit/stream.js";

const shown = new Map();

function place(parts) {
  for (const [name, html] of Object.entries(parts)) {
    // Only what changed is replaced, so that a selection or a focused link elsewhere stays.
    if (shown.get(name) === html) continue;
    const element = document.getElementById(name);
    // The first view is mostly what the page was loaded with: what somebody has chosen in it stays.
    if (shown.has(name) || !isSame(element, html)) element.innerHTML = html;
    shown.set(name, html);
  }
}

function isSame(element, html) {
  const parsed = document.createElement("template");
  parsed.innerHTML = html;
  return parsed.innerHTML === element.innerHTML;
}

function tell(silentMs) {
  const stale = document.body.dataset.stale === "yes";
  document.getElementById("live-word").textContent = stale ? "Stale" : "Live";
  document.getElementById("veil-age").textContent = seconds(silentMs);
}

// A picture is too much to send with every change: the page asks for a new one now and then.
const REFRESH_MS = 60000;

async function refresh(element) {
  const answer = await fetch(element.dataset.refresh);
  if (answer.ok) element.innerHTML = await answer.text();
}

for (const element of document.querySelectorAll("[data-refresh]")) {
  setInterval(() => refresh(element).catch(() => {}), REFRESH_MS); // the veil says when nobody answers
}

follow(document.body.dataset.events, place, tell);
