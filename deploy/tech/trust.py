"""Which certificate belongs to which unit: asked once of a person, then remembered (decision 074).

It alone knows the file of known units. A certificate that changed is refused, because a stranger's
would look just the same; what to do when the unit was really renewed is in the sentence.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kit.command_line import CommandRefused
from kit.files import private_folder, write_private

FILE_NAME: Final = "known-units.json"

# Asks a person whether the fingerprint is the one in the unit's log.
Ask = Callable[[str], bool]


def folder() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "underfelt-tech"


class KnownUnits:
    def __init__(self, place: Path) -> None:
        self._path = place / FILE_NAME

    def check(self, address: str, shown: str, said: str, ask: Ask) -> None:
        """`said` is what the person gave on the command line, or nothing."""
        known = self.read()
        if said:
            if not hmac.compare_digest(_bare(said), _bare(shown)):
                raise CommandRefused(
                    f"{address} shows the certificate {shown}, and not the one you gave."
                )
        elif address in known:
            if not hmac.compare_digest(known[address], _bare(shown)):
                raise CommandRefused(
                    f"{address} shows another certificate than before: {shown}. If the unit was "
                    f"set up anew, compare it with the unit's log and give it with --fingerprint."
                )
            return
        elif not ask(shown):
            raise CommandRefused(
                f"{address} shows the certificate {shown}, which nobody has compared yet. "
                "Give it with --fingerprint when the unit's log shows the same."
            )
        self._write(known | {address: _bare(shown)})

    def read(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise CommandRefused(f"{self._path} is damaged: remove it and compare anew.") from error
        if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
            raise CommandRefused(f"{self._path} is damaged: remove it and compare anew.")
        return found

    def _write(self, known: dict[str, str]) -> None:
        private_folder(self._path.parent)
        write_private(self._path, json.dumps(known, indent=1, sort_keys=True).encode())


def _bare(text: str) -> str:
    return text.replace(":", "").replace(" ", "").strip().lower()
