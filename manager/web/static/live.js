// The live page: puts the parts the server rendered in their places, and says when they are old.

import { follow, seconds } from "./kit/stream.js";

const shown = new Map();

function place(parts) {
  for (const [name, html] of Object.entries(parts)) {
    // Only what changed is replaced, so that a selection or a focused link elsewhere stays.
    if (shown.get(name) === html) continue;
    shown.set(name, html);
    document.getElementById(name).innerHTML = html;
  }
}

function tell(silentMs) {
  const stale = document.body.dataset.stale === "yes";
  document.getElementById("live-word").textContent = stale ? "Stale" : "Live";
  document.getElementById("veil-age").textContent = seconds(silentMs);
}

follow("/events", place, tell);
