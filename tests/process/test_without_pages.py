"""What a process does without: a unit or a manager without pages, a manager that counts no cards.

The kernel's guest has no web framework. NumPy takes a third of a command's start, and memory.
"""

from __future__ import annotations

import subprocess
import sys

FRAMEWORK = ("starlette", "uvicorn", "jinja2", "anyio", "h11")


def loaded_by(modules: str, asked: tuple[str, ...]) -> list[str]:
    script = f"import sys, {modules}; print(*sorted({set(asked)!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split()


def test_assembling_a_unit_or_a_manager_imports_no_web_framework() -> None:
    assert loaded_by("controller.unit, manager.app", FRAMEWORK) == []


def test_a_manager_serves_and_is_commanded_without_numpy() -> None:
    """Mutation this catches: a page or a command that loads the odds as it is imported."""
    assert loaded_by("manager.__main__, manager.serve", ("numpy",)) == []
