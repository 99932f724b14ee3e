"""The table of commands: each module is there, and what is not a command gets one sentence."""

from __future__ import annotations

import importlib

import pytest

from deploy.tech.__main__ import COMMANDS, main
from kit.command_line import REFUSED


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_its_module(name: str) -> None:
    module = importlib.import_module(f"deploy.tech.commands.{COMMANDS[name].module}")
    assert callable(module.main)


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(command.help in out for command in COMMANDS.values())


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fly"]) == REFUSED
    assert "there is no command 'fly'" in capsys.readouterr().err


def test_no_command_is_refused_with_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == REFUSED
    assert "decode" in capsys.readouterr().out
