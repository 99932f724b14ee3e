"""How every command of ours ends: with one sentence and the right exit code, never in a traceback.

0 is done, 1 a bad finding, 2 refused; 130 stopped by Ctrl-C, 141 nobody reads the output any more.
What a machine can refuse to anybody (a folder, a port, a full disk) is told here, once for all
commands. What only one command can refuse, that command names. Any other exception is a mistake of
ours, and stays one.
"""

from __future__ import annotations

import argparse
import math
import os
import select
import signal
import sys
from collections.abc import Callable
from typing import Final, NoReturn

REFUSED: Final = 2
STOPPED: Final = 128 + signal.SIGINT
OUTPUT_CUT_OFF: Final = 128 + signal.SIGPIPE
STDOUT: Final = 1
PORT_MAX: Final = 65_535
SHOWN_CHARACTERS_MAX: Final = 40
INT64_MAX: Final = 2**63 - 1
NO_TEXT: Final = "What was typed is not UTF-8 text."


def run_command(main: Callable[[], int]) -> NoReturn:
    """Runs a whole command and leaves the process."""
    try:
        sys.exit(_flushed(main))
    except BrokenPipeError:
        if not _reader_left():
            raise
        _drop_output()
        sys.exit(OUTPUT_CUT_OFF)
    except OSError as error:  # such as a full disk behind the output
        _drop_output()
        say(f"The output cannot be written: {error.strerror}.")
        sys.exit(REFUSED)


def told(command: Callable[[], int], *refusals: type[Exception], name: str = "") -> int:
    """The command's exit code. A refusal, a stop or a machine's trouble becomes one sentence."""
    begins = f"{name}: " if name else ""
    refused: tuple[type[Exception], ...] = (*refusals, CommandRefused)
    try:
        _refuse_odd_arguments()
        return command()
    except KeyboardInterrupt:
        say(f"{begins}stopped")
        return STOPPED
    except BrokenPipeError:
        raise
    except refused as refusal:
        say(f"{begins}{refusal}")
        return REFUSED
    except OSError as error:
        if error.filename is None and _output_fails():
            raise  # `run_command` tells that, once
        say(f"{begins}{in_words(error)}")
        return REFUSED


class CommandRefused(Exception):  # noqa: N818 - what it says is shown as it is
    """A command cannot be carried out; the sentence says why."""


def say(sentence: str) -> None:
    """One sentence on the error output; where nobody can be told, the exit code has to do."""
    try:
        print(sentence, file=sys.stderr, flush=True)
    except OSError:
        return


def asked(question: str, ask: Callable[[str], str] = input) -> str:
    """What somebody types, or a line that another program hands over."""
    try:
        text = ask(question)
    except EOFError as error:
        raise CommandRefused("Nobody answers: the input has ended.") from error
    except UnicodeDecodeError as error:
        raise CommandRefused(NO_TEXT) from error
    if _has_half_characters(text):
        raise CommandRefused(NO_TEXT)
    return text


def asked_in_secret(question: str) -> str:
    """A PIN or password: from the terminal without echo, or one line of standard input."""
    if sys.stdin.isatty():
        from getpass import getpass  # a table that runs asks nobody, and has no memory for it

        return asked(question, getpass)
    return asked("", lambda _: sys.stdin.readline().rstrip("\n"))


def in_words(error: OSError) -> str:
    """Which file or folder it is about, and what the machine says of it."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."


def whole(minimum: int = 0, maximum: int = INT64_MAX) -> Callable[[str], int]:
    """An argument that is a whole number within bounds."""

    def take(text: str) -> int:
        digits = text.removeprefix("-")
        # Python would refuse to read thousands of digits.
        fits = digits.isascii() and digits.isdecimal() and len(digits) <= len(str(INT64_MAX))
        if not fits or not minimum <= int(text) <= maximum:
            raise argparse.ArgumentTypeError(
                f"{_shown(text)} is not a whole number from {minimum} to {maximum}"
            )
        return int(text)

    return take


def above_zero(maximum: float) -> Callable[[str], float]:
    """An argument that is a length of time or a share of one."""

    def take(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 < value <= maximum:
            raise argparse.ArgumentTypeError(
                f"{_shown(text)} is not a number above 0, up to {maximum:g}"
            )
        return value

    return take


def port(text: str) -> int:
    try:
        return whole(0, PORT_MAX)(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(
            f"{_shown(text)} is not a port from 0 to {PORT_MAX}"
        ) from error


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN_CHARACTERS_MAX else f"{text[:SHOWN_CHARACTERS_MAX]}...")


def _refuse_odd_arguments() -> None:
    """Bytes that are no UTF-8 come in as half characters, which no file and no peer could take."""
    if any(map(_has_half_characters, sys.argv[1:])):
        raise CommandRefused("An argument is not UTF-8 text.")


def _has_half_characters(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _flushed(main: Callable[[], int]) -> str | int | None:
    """The command's exit code, once its last line is out."""
    try:
        code: str | int | None = main()
    except SystemExit as end:  # such as after --help
        code = end.code
    except KeyboardInterrupt:
        code = STOPPED
    sys.stdout.flush()
    return code


def _output_fails() -> bool:
    """Asked after a failure that names no file: was it what the command prints?"""
    try:
        sys.stdout.flush()
        os.write(STDOUT, b"")
    except OSError:
        return True
    return False


def _drop_output() -> None:
    """What is still buffered has to go somewhere, or the interpreter complains on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)


def _reader_left() -> bool:
    output = select.poll()
    output.register(STDOUT, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in output.poll(0))
