"""Coverage-guided fuzzing of the codecs: `python tests/fuzz/atheris_codec.py [libFuzzer options]`.

Not a test of the default run: atheris (a compiled extension) grows inputs that reach new branches,
as long as it is told to. What must hold is what the Hypothesis tests hold: both codecs and the
reference agree, and a frame's payload becomes a message or a ProtocolError. A finding ends the run
with the input in a file; its folder of inputs may be kept from run to run.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

with atheris.instrument_imports(include=["protocol"]):
    from protocol.wire import messages, portable_codec, profile
    from protocol.wire.errors import ProtocolError
    from tests.kit.message_samples import samples


def strict(data: bytes) -> str:
    try:
        return repr(profile.decode(data))
    except ProtocolError as problem:
        return f"refused {int(problem.code)}"


def portable(data: bytes) -> str:
    try:
        return repr(portable_codec.decode(data))
    except portable_codec.CodecRefused as problem:
        return f"refused {problem.code}"


def try_one(data: bytes) -> None:
    said = strict(data)
    if portable(data) != said:
        raise AssertionError(f"{data.hex()}: cbor2 {said}, portable {portable(data)}")
    if not said.startswith("refused"):
        value = profile.decode(data)
        assert portable_codec.encode(value) == profile.encode(value) == data
    try:
        messages.decode(data)
    except ProtocolError:
        return
    assert not said.startswith("refused")


def seed(folder: Path) -> None:
    """Begins with the golden payloads, so that the first hour is not spent on finding a map."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, message in samples().items():
        (folder / name).write_bytes(message.encode())


def main() -> None:
    folders = [word for word in sys.argv[1:] if not word.startswith("-")]
    inputs = Path(folders[0]) if folders else ROOT / "build" / "fuzz" / "codec"
    seed(inputs)
    options = [word for word in sys.argv[1:] if word.startswith("-")]
    findings = f"-artifact_prefix={inputs.parent}/finding-"
    atheris.Setup([sys.argv[0], "-max_len=4100", findings, *options, str(inputs)], try_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
