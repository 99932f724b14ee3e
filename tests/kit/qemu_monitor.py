"""QEMU's own door: its screens are photographed and sticks are plugged in through it."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

PORT = "plug"  # of the machine, where something can be plugged in while it runs


class Monitor:
    def __init__(self, place: Path, seconds_max: float) -> None:
        place.unlink(missing_ok=True)
        self._place = place
        self._seconds_max = seconds_max
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(place))
        self._door.listen(1)
        self._stream: Any = None

    def words(self) -> list[str]:
        """What QEMU has to be told for it."""
        return ["-qmp", f"unix:{self._place}", "-device", f"pcie-root-port,id={PORT},chassis=1"]

    def photograph(self, head: int, out: Path) -> Path:
        self._ask("screendump", filename=str(out), device="screens", head=head)
        return out

    def plug_in(self, stick: Path) -> None:
        file = {"driver": "file", "filename": str(stick), "read-only": True}
        self._ask(
            "blockdev-add", **{"driver": "raw", "node-name": "stick", "read-only": True}, file=file
        )
        self._ask("device_add", driver="virtio-blk-pci", drive="stick", bus=PORT, id="stick")

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._door.close()

    def _ask(self, command: str, **words: object) -> None:
        if self._stream is None:
            self._stream = self._greeted()
            self._ask("qmp_capabilities")
        request = {"execute": command, "arguments": words}
        self._stream.write(json.dumps(request).encode() + b"\n")
        self._stream.flush()
        while True:  # events come in between
            line = self._stream.readline()
            assert line, f"QEMU ended before it answered to {command}"
            told = json.loads(line)
            assert "error" not in told, told
            if "return" in told:
                return

    def _greeted(self) -> Any:
        self._door.settimeout(self._seconds_max)
        connection, _ = self._door.accept()
        with connection:  # the stream keeps it open
            connection.settimeout(None)
            stream = connection.makefile("rwb")
        stream.readline()
        return stream
