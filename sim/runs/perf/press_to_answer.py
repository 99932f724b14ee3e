"""From a press on the panel to what the dealer sees of it, in real Chromium, on the bench.

A press is a real touch of the browser's input, and its time is the input's own. The button's look
answers first; the table's sentence follows when it is durable. Both are taken at the frame that
shows them. The same with the link down and with a bus on ground.
"""

from __future__ import annotations

from typing import Any

from sim.runs.bench_browser import act, chromium_page, running_bench
from sim.runs.perf.figures import Figure, at_most, distribution, percentile

TABLE = "four-card-touch"
PRESSES = 120
BUTTONS = ("START", "END", "SEAT 3")
PAUSE_MS = 400  # nobody's second press on a button is one touch with the first
SETTLE_MS = 6500  # a link is down after five seconds of silence
MEDIAN_MS = 50
P99_MS = 120

# Waits for the touch, then for the next frame after each of the two answers was written.
WATCH = """() => {
  const frame = () => new Promise(done => requestAnimationFrame(() => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = () => done(performance.now());
    port2.postMessage(0);
  }));
  const seen = {};
  addEventListener('click', event => { seen.began = event.timeStamp; },
    {capture: true, once: true});
  window.pressSeen = new Promise(done => {
    const look = new MutationObserver(async changes => {
      if (seen.began === undefined) return;
      const isAnswer = changes.some(change => change.target.id === 'message-text');
      const after = await frame() - seen.began;
      seen.first ??= after;
      if (!isAnswer) return;
      look.disconnect();
      done({first: seen.first, answer: after});
    });
    look.observe(document.body,
      {subtree: true, childList: true, attributes: true, attributeFilter: ['data-pressed']});
  });
}"""


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with running_bench(TABLE) as addresses, chromium_page(1280, 800) as page:
        page.goto(addresses.panel)
        for title, actions in (
            ("", []),
            (", link down", [("cable", "pull")]),
            (", bus on ground", [("cable", "plug"), ("fault", "bus-grounded")]),
        ):
            for action, argument in actions:
                act(page, addresses, action, argument)
            page.wait_for_timeout(SETTLE_MS)
            figures += _figures(title, _presses(page))
    return figures


def _figures(title: str, seen: list[dict[str, float]]) -> list[Figure]:
    found: list[Figure] = []
    for name, key in (("button looks pressed", "first"), ("the table's answer", "answer")):
        times_ms = [each[key] for each in seen]
        note = distribution(times_ms, "ms")
        label = f"press -> {name}{title}"
        found += [
            at_most(f"{label}, median", percentile(times_ms, 0.5), MEDIAN_MS, "ms", note),
            at_most(f"{label}, 99 %", percentile(times_ms, 0.99), P99_MS, "ms"),
        ]
    return found


def _presses(page: Any) -> list[dict[str, float]]:
    """What an empty table refuses: journaled like any press, and answered with another sentence."""
    found = []
    for turn in range(PRESSES):
        page.evaluate(WATCH)
        page.locator(f'[data-button="{BUTTONS[turn % len(BUTTONS)]}"]').first.click()
        found.append(page.evaluate("() => window.pressSeen"))
        page.wait_for_timeout(PAUSE_MS)
    return found
