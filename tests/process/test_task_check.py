"""The check that every test gets does fail a test that leaves a task behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.places import ROOT, TESTS

CONFTEST = TESTS / "conftest.py"

LEAVES_ONE = """
import asyncio

async def endless():
    await asyncio.Event().wait()

def test_leaves_a_task():
    loop = asyncio.new_event_loop()
    task = loop.create_task(endless(), name="forgotten lamp")
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    test_leaves_a_task.kept = task
"""
LEAVES_NONE = """
import asyncio

def test_leaves_nothing():
    asyncio.run(asyncio.sleep(0))
"""


def run_pytest(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(CONFTEST, folder / "conftest.py")
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_sample.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # what every test gets is ours
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_test_that_leaves_a_task_fails(tmp_path):
    result = run_pytest(tmp_path, LEAVES_ONE)
    assert result.returncode == pytest.ExitCode.TESTS_FAILED
    assert "left these tasks behind: forgotten lamp" in result.stdout


def test_a_test_that_leaves_none_passes(tmp_path):
    assert run_pytest(tmp_path, LEAVES_NONE).returncode == pytest.ExitCode.OK
