"""Runs in a booted guest, as root: does what the test outside asks over the second serial port.

One line of JSON asks, one answers. It knows no test. It needs nothing but Python's own library,
because it runs on the guest's own Python.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import tty
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

PORT = "/dev/ttyS1"
WORLD = "/run/world.socket"
PAGES = "http://127.0.0.1:{}"
PAUSE_S = 0.2
DATA = b"data: "


def run(words: list[str], seconds: float) -> dict[str, Any]:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        return {"code": -1, "said": f"{late}"}
    return {"code": done.returncode, "said": done.stdout + done.stderr}


def world(verb: str, arguments: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """The simulated hardware's own words; its process may still be on its way."""
    request = {"verb": verb, "arguments": arguments, "options": options}
    with socket.socket(socket.AF_UNIX) as line:
        _until(lambda: line.connect(WORLD))
        with line.makefile("rwb") as stream:
            stream.write(json.dumps(request).encode() + b"\n")
            stream.flush()
            told: dict[str, Any] = json.loads(stream.readline())
            return told


def view(wanted: dict[str, Any], port: int, seconds: float) -> dict[str, Any]:
    """The panel's view, as soon as it has these values; the last one when it never has."""
    ends_s, last = time.monotonic() + seconds, {}
    while time.monotonic() < ends_s:
        try:
            for last in _views(port):
                found = all(last.get(name) == value for name, value in wanted.items())
                if found or time.monotonic() >= ends_s:
                    return {"view": last, "uptime_s": time.clock_gettime(time.CLOCK_BOOTTIME)}
        except (OSError, urllib.error.URLError):
            time.sleep(PAUSE_S)
    return {"view": last, "uptime_s": time.clock_gettime(time.CLOCK_BOOTTIME)}


def _views(port: int) -> Iterator[dict[str, Any]]:
    with urllib.request.urlopen(PAGES.format(port) + "/events", timeout=30) as stream:
        for line in stream:
            if line.startswith(DATA):
                yield json.loads(line[len(DATA) :])


def press(button: str, port: int) -> dict[str, Any]:
    asked = urllib.request.Request(
        PAGES.format(port) + "/press",
        data=json.dumps({"button": button}).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(asked, timeout=30) as answer:
        told: dict[str, Any] = json.load(answer)
    return {"accepted": told["accepted"], "sentence": told["sentence"]}


def page(url: str) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return {"code": answer.status, "said": answer.read().decode()}
    except OSError as error:
        return {"code": 0, "said": f"{error}"}


def _until(act: Any) -> None:
    for _ in range(600):
        try:
            act()
        except OSError:
            time.sleep(PAUSE_S)
        else:
            return
    raise TimeoutError("the simulated hardware does not answer")


ACTS = {"run": run, "world": world, "view": view, "press": press, "page": page}


def main() -> None:
    with open(PORT, "r+b", buffering=0) as port:
        tty.setraw(port.fileno())
        port.write(b'{"agent": "ready"}\n')
        for line in iter(_lines(port.fileno()).__next__, b""):
            asked = json.loads(line)
            try:
                told = ACTS[asked["act"]](**asked["words"])
            except Exception as error:  # noqa: BLE001 - whatever it is, the test outside hears it
                told = {"error": f"{type(error).__name__}: {error}"}
            port.write(json.dumps(told).encode() + b"\n")


def _lines(number: int) -> Iterator[bytes]:
    kept = b""
    while True:
        kept += os.read(number, 4096)
        *whole, kept = kept.split(b"\n")
        yield from whole


if __name__ == "__main__":
    main()
