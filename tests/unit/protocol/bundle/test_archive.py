"""A bundle that is whole, damaged, foreign, edited, or from newer software.

Mutations this catches: the signature is not checked, a file's digest is not compared, a file that
was added later is read, a newer format is taken for ours, a huge archive is unpacked.
"""

from __future__ import annotations

import json
import zipfile
from io import BytesIO

import pytest

from protocol.bundle.archive import (
    BYTES_MAX,
    FORMAT,
    MANIFEST,
    SIGNATURE,
    VERSION,
    Bundle,
    BundleFault,
    read_bundle,
    write_bundle,
)
from protocol.proof.seal import Sealer

SEALER = Sealer("UF-1", bytes(range(32)))
OTHER = Sealer("UF-2", bytes(range(1, 33)))
FILES = {"unit.json": b'{"serial": "UF-1"}', "kernel.log": b"mmc0: error -110\n" * 40}
LOCAL_HEADER_BYTES = 30
HEAD = {"unit": "UF-1", "software": "underfelt 1.0", "wall_ms": 7}


def made(sealer: Sealer | None = SEALER) -> bytes:
    return write_bundle(HEAD, FILES, sealer)


def unpacked(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: dict[str, bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def edited(**changes: bytes | None) -> Bundle:
    """The bundle with some of its files exchanged, added or (None) taken away."""
    files = unpacked(made())
    for name, content in changes.items():
        name = name.replace("__", ".")
        if content is None:
            del files[name]
        else:
            files[name] = content
    return read_bundle(packed(files))


def test_what_was_written_is_read_and_proven() -> None:
    bundle = read_bundle(made(), SEALER.public_key.hex())
    assert bundle.is_proven
    assert bundle.files == FILES
    assert bundle.head["unit"] == "UF-1"
    assert bundle.part("unit") == {"serial": "UF-1"}
    assert bundle.part("journal") is None


def test_the_same_content_is_the_same_bytes() -> None:
    assert made() == made()


def test_an_edited_file_is_left_out_and_told() -> None:
    bundle = edited(unit__json=b'{"serial": "UF-9"}')
    assert bundle.doubts == ("unit.json was edited or is damaged; it is left out.",)
    assert "unit.json" not in bundle.files
    assert bundle.files["kernel.log"] == FILES["kernel.log"]


def test_a_file_that_was_added_or_taken_away_is_told() -> None:
    assert edited(more__json=b"{}").doubts == ("more.json was added later; it is left out.",)
    assert edited(kernel__log=None).doubts == (
        "kernel.log is missing; what it would have told is not known.",
    )


def test_an_edited_list_of_files_breaks_the_signature() -> None:
    manifest = json.loads(unpacked(made())[MANIFEST])
    manifest["unit"] = "UF-9"
    bundle = edited(manifest__json=json.dumps(manifest).encode())
    assert bundle.doubts == ("Its signature does not fit: it was edited after the unit made it.",)
    assert bundle.files == FILES  # opened all the same


def test_whoever_signs_an_edited_bundle_anew_has_another_key() -> None:
    resigned = made(OTHER)
    assert read_bundle(resigned).is_proven  # by the key that it names itself
    known = read_bundle(resigned, SEALER.public_key.hex())
    assert known.doubts == (
        "It is signed with another key than this unit's: it may be another unit's.",
    )


def test_a_bundle_that_nobody_signed_is_not_proven() -> None:
    assert read_bundle(made(None)).doubts == ("Nobody signed it: the unit had no key of its own.",)
    assert not edited(signature=None).is_proven


@pytest.mark.parametrize("key", ["", "xyz", "00" * 32])
def test_a_key_that_is_no_key_proves_nothing(key: str) -> None:
    manifest = json.loads(unpacked(made())[MANIFEST])
    manifest["public_key"] = key
    assert not edited(manifest__json=json.dumps(manifest).encode()).is_proven


@pytest.mark.parametrize(
    "content", [b"", b"no zip at all", made()[:-30], made()[: len(made()) // 2]]
)
def test_what_is_no_whole_zip_is_refused_in_one_sentence(content: bytes) -> None:
    with pytest.raises(BundleFault, match="cut off or damaged"):
        read_bundle(content)


def test_a_flipped_byte_costs_its_own_file_only() -> None:
    content = bytearray(made())
    with zipfile.ZipFile(BytesIO(bytes(content))) as archive:
        begin = archive.getinfo("kernel.log").header_offset + LOCAL_HEADER_BYTES
    content[begin + len("kernel.log") + 2] ^= 0xFF
    bundle = read_bundle(bytes(content))
    assert set(bundle.files) == {"unit.json"}
    assert bundle.doubts == ("kernel.log is damaged; what it would have told is not known.",)


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (b"{}", "somebody else's archive"),
        (b"[]", "somebody else's archive"),
        (b"\xff", "manifest.json cannot be read"),
        (json.dumps({"format": FORMAT}).encode(), "says nothing of its files"),
        (json.dumps({"format": FORMAT, "version": 1, "files": 3}).encode(), "says nothing"),
    ],
)
def test_a_foreign_or_broken_manifest_is_refused(manifest: bytes, sentence: str) -> None:
    with pytest.raises(BundleFault, match=sentence):
        read_bundle(packed({MANIFEST: manifest, SIGNATURE: b""}))


def test_an_archive_without_a_manifest_is_refused() -> None:
    with pytest.raises(BundleFault, match="no bundle of a unit"):
        read_bundle(packed({"letter.txt": b"hello"}))


def test_newer_software_is_named() -> None:
    manifest = json.loads(unpacked(made())[MANIFEST]) | {"version": VERSION + 1}
    files = unpacked(made()) | {MANIFEST: json.dumps(manifest).encode()}
    with pytest.raises(BundleFault, match=r"newer software \(underfelt 1.0, format 2\)"):
        read_bundle(packed(files))


def test_an_archive_that_would_fill_the_memory_is_not_unpacked() -> None:
    with pytest.raises(BundleFault, match="far larger"):
        read_bundle(packed({"zeros": bytes(BYTES_MAX + 1)}))
