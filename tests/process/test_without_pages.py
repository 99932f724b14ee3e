"""A unit and a manager are assembled without the web framework: the kernel's guest has none."""

from __future__ import annotations

import subprocess
import sys

FRAMEWORK = ("starlette", "uvicorn", "jinja2", "anyio", "h11")
NAMED = f"""
import sys, controller.unit, manager.app
print(sorted({set(FRAMEWORK)!r} & set(sys.modules)))
"""


def test_assembling_a_unit_or_a_manager_imports_no_web_framework() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NAMED], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
