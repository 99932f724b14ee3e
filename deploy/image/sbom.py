"""The bill of materials of a unit's root, in CycloneDX: every Debian and every Python package.

`python3 -m deploy.image.sbom ROOT` prints it. It is made from what is installed there, not from
what was asked for, and says the same bytes for the same root.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from kit.command_line import CommandRefused, run_command, told

STATUS: Final = "var/lib/dpkg/status"
RELEASE: Final = "opt/underfelt/current"
Component = dict[str, Any]


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    return told(lambda: _print(words), name="sbom")


def _print(words: list[str]) -> int:
    if len(words) != 1:
        raise CommandRefused("usage: python3 -m deploy.image.sbom ROOT")
    print(json.dumps(bill_of(Path(words[0])), indent=1, sort_keys=True))
    return 0


def bill_of(root: Path) -> dict[str, Any]:
    try:
        components = [*_debian_packages(root), *_python_packages(root)]
        release = (root / RELEASE / "RELEASE").read_text("ascii").strip()
    except OSError as error:
        raise CommandRefused(
            f"{root} is no root of a unit: {error.strerror}: {error.filename}"
        ) from error
    digest = hashlib.sha256(json.dumps(components, sort_keys=True).encode()).hexdigest()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # The same for the same packages, so that two builds are the same bytes.
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {
            "component": {"type": "firmware", "name": "underfelt-unit", "version": release}
        },
        "components": components,
    }


def _debian_packages(root: Path) -> Iterator[Component]:
    paragraphs = (root / STATUS).read_text("utf-8").split("\n\n")
    for paragraph in sorted(filter(None, paragraphs)):
        fields = Parser().parsestr(paragraph, headersonly=True)
        if not fields["Status"].endswith(" installed"):
            continue
        name, version, arch = fields["Package"], fields["Version"], fields["Architecture"]
        purl = f"pkg:deb/debian/{quote(name)}@{quote(version)}?arch={arch}"
        if name.startswith("underfelt"):
            purl = f"pkg:generic/{quote(name)}@{quote(version)}?arch={arch}"
        component: Component = {
            "type": "library",
            "name": name,
            "version": version,
            "purl": purl,
            "bom-ref": purl,
        }
        if fields["Homepage"]:
            reference = {"type": "website", "url": fields["Homepage"]}
            component["externalReferences"] = [reference]
        yield component


def _python_packages(root: Path) -> Iterator[Component]:
    places = sorted((root / RELEASE / "venv/lib").glob("python*/site-packages/*.dist-info"))
    if not places:
        raise CommandRefused(f"{root} holds no Python packages below {RELEASE}")
    for place in places:
        fields = Parser().parsestr((place / "METADATA").read_text("utf-8"), headersonly=True)
        purl = f"pkg:pypi/{fields['Name'].lower()}@{fields['Version']}"
        # What the wheel says of each of its own files.
        listed = hashlib.sha256((place / "RECORD").read_bytes()).hexdigest()
        yield {
            "type": "library",
            "name": fields["Name"],
            "version": fields["Version"],
            "purl": purl,
            "bom-ref": purl,
            "properties": [{"name": "underfelt:sha256-of-RECORD", "value": listed}],
        }


if __name__ == "__main__":
    run_command(main)
