"""Serves the page for the unit's own screens, on this machine alone."""

from __future__ import annotations

import html
import json
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from deploy.screen.findings import Place, findings, ports, program_version

ADDRESS: Final = ("127.0.0.1", 8070)
CONNECT_MAX_S: Final = 0.5
OK, NOT_FOUND = 200, 404
# Goes to the table's own page as soon as that answers, and comes back to nobody: that page tells by
# itself when its table is gone.
PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Underfelt</title>
<style>
body {{ margin: 0; background: #10231c; color: #f2efe6; font: 28px/1.5 "DejaVu Sans", sans-serif; }}
main {{ padding: 8vh 8vw; }} h1 {{ font-size: 34px; color: #e8c15a; }}
p {{ white-space: pre-line; }}
footer {{ position: fixed; bottom: 3vh; left: 8vw; font-size: 16px; }}
</style>
<main><h1>{title}</h1><div id="said">{said}</div></main><footer>{foot}</footer>
<script>
async function look() {{
  try {{
    const told = await (await fetch("/{which}/state")).json();
    if (told.url) {{ location.replace(told.url); return; }}
    document.getElementById("said").replaceChildren(...told.said.map(text => {{
      const row = document.createElement("p"); row.textContent = text; return row;
    }}));
  }} catch (error) {{ console.log(error); }}
  setTimeout(look, 1000);
}}
look();
</script></html>"""
WHICH: Final = ("panel", "display")


class Screens(BaseHTTPRequestHandler):
    place = Place()

    def do_GET(self) -> None:
        which, _, rest = self.path.strip("/").partition("/")
        if which not in WHICH or rest not in ("", "state"):
            self._answer(NOT_FOUND, "text/plain", "There is no such page.\n")
        elif rest:
            self._answer(OK, "application/json", json.dumps(self._state(which)))
        else:
            self._answer(OK, "text/html; charset=utf-8", self._page(which))

    def _state(self, which: str) -> dict[str, object]:
        port = ports(self.place)[WHICH.index(which)]
        if _answers(port):
            return {"url": f"http://127.0.0.1:{port}/", "said": []}
        return {"url": "", "said": findings(self.place)}

    def _page(self, which: str) -> str:
        said = "".join(f"<p>{html.escape(text)}</p>" for text in findings(self.place))
        foot = html.escape(f"{program_version(self.place)} {_own_address()}")
        return PAGE.format(title="This table is not open.", said=said, foot=foot, which=which)

    def _answer(self, code: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("cache-control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Asked every second: nobody wants to read that."""


def _answers(port: int) -> bool:
    try:
        with socket.create_connection((ADDRESS[0], port), CONNECT_MAX_S):
            return True
    except OSError:
        return False


def _own_address() -> str:
    """How the network calls this unit; nothing is sent for it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))
            return str(asked.getsockname()[0])
        except OSError:
            return "no network"


def main() -> None:
    with ThreadingHTTPServer(ADDRESS, Screens) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
