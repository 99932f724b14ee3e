// The page's one live stream, and the one clock that says how old the page is.
// The server sends the view again at least every second, so silence means lost contact. Reopens the
// stream by itself; a stream that stays silent is taken for dead even if the socket looks open.

import { say } from "./say.js";

export const STALE_MS = 5000;
const LOOK_MS = 250;
const REOPEN_MS = 1000;

// follow("/events", view => ..., silentMs => ...): the second is called about four times a second.
// Returns a function that shows a view which came another way; no older one follows it.
export function follow(address, onView, onTick) {
  let source = null;
  let newest = 0;
  let heardAt = performance.now();
  let openedAt = 0;

  function open() {
    if (source) source.close();
    openedAt = performance.now();
    source = new EventSource(address);
    source.onopen = () => (newest = 0); // a unit that restarted counts anew
    source.onmessage = (event) => show(JSON.parse(event.data), Number(event.lastEventId));
  }

  function show(view, version) {
    heardAt = performance.now();
    if (version >= newest) {
      newest = version;
      onView(view);
    }
    look();
  }

  function look() {
    const now = performance.now();
    const silentMs = now - heardAt;
    document.body.dataset.stale = silentMs > STALE_MS ? "yes" : "no";
    onTick(silentMs);
    const dead = source.readyState === EventSource.CLOSED;
    if (now - openedAt > (dead ? REOPEN_MS : STALE_MS) && (dead || silentMs > STALE_MS)) open();
  }

  open();
  setInterval(look, LOOK_MS);
  announce();
  return show;
}

// A page that frames this one cannot see whether it came up; so it is told.
function announce() {
  if (window.parent !== window) window.parent.postMessage("underfelt page ready", "*");
}

export function seconds(ms) {
  const whole = Math.floor(ms / 1000);
  return whole < 120 ? say("{} s", whole) : say("{} min", Math.floor(whole / 60));
}
