"""One seed for the fuzz tests of a run, and the `deep` profile for long runs.

The seed is the one that is printed at the top of every run for the order of the tests, so that
`--randomly-seed=N` repeats both; `--hypothesis-seed=N` still has the last word. A failure says how
to repeat it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import hypothesis.core
import pytest
from hypothesis import settings

settings.register_profile("deep", deadline=None, print_blob=True)


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    if hypothesis.core.global_force_seed is None:
        hypothesis.core.global_force_seed = config.getoption("randomly_seed", None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    if report.failed:
        again = (
            f"python -m pytest {item.nodeid} --hypothesis-seed={hypothesis.core.global_force_seed}"
        )
        report.sections.append(("To repeat", again))
    return report
