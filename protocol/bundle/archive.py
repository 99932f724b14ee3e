"""The bundle's format: a zip of files, a list of their digests, and the unit's signature over it.

It alone knows the format. What is in a bundle is for the unit to say; what it means, for whoever
reads it. A bundle that was edited is opened all the same and marked as unproven, because a
technician with half the evidence is better off than with none (decision 078).
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Final

from protocol.proof.seal import Sealer, is_genuine_bundle

FORMAT: Final = "underfelt bundle"
VERSION: Final = 1
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "signature"
# A hundred times what a table needs: more is no bundle, and would only fill a laptop's memory.
FILES_MAX: Final = 400
BYTES_MAX: Final = 32 * 1024 * 1024
# Zip keeps a date with each file. A fixed one lets the same content be the same bytes.
ZIP_DATE: Final = (2020, 1, 1, 0, 0, 0)


# What a zip's entry may fail with: wrong sum, broken packing, an end too soon, a cipher.
UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class BundleFault(ValueError):  # noqa: N818
    """This file cannot be opened as a bundle; the sentence says why."""


@dataclass(frozen=True)
class Bundle:
    """What was read: `head` is the manifest, `files` what is whole, `doubts` what is not proven."""

    head: dict[str, Any]
    files: dict[str, bytes]
    public_key: str = ""
    doubts: tuple[str, ...] = field(default=())

    @property
    def is_proven(self) -> bool:
        return not self.doubts

    def part(self, name: str) -> Any:
        """A part in JSON; None when it is missing or cannot be read."""
        content = self.files.get(f"{name}.json")
        if content is None:
            return None
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            return None


def write_bundle(
    head: Mapping[str, Any], files: Mapping[str, bytes], sealer: Sealer | None
) -> bytes:
    """`head` says whose bundle it is; without a sealer nobody can prove that."""
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        **head,
        "public_key": sealer.public_key.hex() if sealer else "",
        "files": {
            name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
            for name, content in sorted(files.items())
        },
    }
    encoded = json.dumps(manifest, indent=1, sort_keys=True).encode()
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, MANIFEST, encoded)
        if sealer is not None:
            _add(archive, SIGNATURE, sealer.sign_bundle(encoded))
        for name, content in sorted(files.items()):
            _add(archive, name, content)
    return out.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, ZIP_DATE), content, zipfile.ZIP_DEFLATED)


def read_bundle(content: bytes, known_key: str = "") -> Bundle:
    """`known_key` is the unit's public key where the reader knows it, as hexadecimal."""
    found, broken = _unzip(content)
    manifest = found.pop(MANIFEST, None)
    if manifest is None:
        raise BundleFault("This is a zip file, but no bundle of a unit: it has no manifest.json.")
    head = _head(manifest)
    signature = found.pop(SIGNATURE, b"")
    files, doubts = _proven_files(head, found, broken)
    key = str(head.get("public_key", ""))
    unproven = _about_signature(manifest, signature, key, known_key)
    return Bundle(head, files, key, (*unproven, *doubts))


def _unzip(content: bytes) -> tuple[dict[str, bytes], list[str]]:
    """The files that can be read, and the names of those that cannot."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            infos = archive.infolist()
            if len(infos) > FILES_MAX or sum(each.file_size for each in infos) > BYTES_MAX:
                raise BundleFault("This zip file is far larger than any bundle; it is not opened.")
            found: dict[str, bytes] = {}
            broken: list[str] = []
            for each in infos:
                try:
                    found[each.filename] = archive.read(each)
                except UNREADABLE:
                    broken.append(each.filename)
            return found, broken
    except zipfile.BadZipFile as error:
        raise BundleFault(
            "This is no bundle, or one that is cut off or damaged: it is not a whole zip file."
        ) from error


def _head(manifest: bytes) -> dict[str, Any]:
    try:
        head = json.loads(manifest)
    except (ValueError, RecursionError) as error:
        raise BundleFault("The bundle is damaged: its manifest.json cannot be read.") from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise BundleFault("This is somebody else's archive: its manifest.json is not a bundle's.")
    version = head.get("version")
    if not isinstance(version, int) or not isinstance(head.get("files"), dict):
        raise BundleFault("The bundle is damaged: its manifest.json says nothing of its files.")
    if version > VERSION:
        raise BundleFault(
            f"The bundle was made by newer software ({head.get('software', 'unknown')}, format "
            f"{version}); this tool knows format {VERSION}. Install the newer tool."
        )
    return head


def _about_signature(
    manifest: bytes, signature: bytes, key: str, known_key: str
) -> tuple[str, ...]:
    if not signature or not key:
        return ("Nobody signed it: the unit had no key of its own.",)
    try:
        public_key = bytes.fromhex(key)
    except ValueError:
        return ("Its signature does not fit: it was edited after the unit made it.",)
    if not is_genuine_bundle(public_key, manifest, signature):
        return ("Its signature does not fit: it was edited after the unit made it.",)
    if known_key and known_key.lower() != key.lower():
        return ("It is signed with another key than this unit's: it may be another unit's.",)
    return ()


def _proven_files(
    head: Mapping[str, Any], found: Mapping[str, bytes], broken: list[str]
) -> tuple[dict[str, bytes], list[str]]:
    """Only what has the digest that the manifest says; the rest is named and left out."""
    files: dict[str, bytes] = {}
    doubts: list[str] = []
    for name, wanted in head["files"].items():
        content = found.get(name)
        if content is None:
            how = "is damaged" if name in broken else "is missing"
            doubts.append(f"{name} {how}; what it would have told is not known.")
        elif hashlib.sha256(content).hexdigest() != _digest(wanted):
            doubts.append(f"{name} was edited or is damaged; it is left out.")
        else:
            files[name] = content
    strangers = sorted(set(found) - set(head["files"]))
    doubts += [f"{name} was added later; it is left out." for name in strangers]
    return files, doubts


def _digest(wanted: object) -> str:
    return str(wanted.get("sha256", "")) if isinstance(wanted, dict) else ""
