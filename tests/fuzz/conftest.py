"""One seed for the fuzz tests of a deep run, and how to repeat a failure.

The seed is the one that is printed at the top of every run for the order of the tests, so that
`--randomly-seed=N` repeats both; `--hypothesis-seed=N` still has the last word. An ordinary run
draws the same examples whatever the seed.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import hypothesis.core
import pytest
from hypothesis import settings


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    if hypothesis.core.global_force_seed is None:
        hypothesis.core.global_force_seed = config.getoption("randomly_seed", None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    if report.failed:
        again = f"python -m pytest {item.nodeid}"
        if settings.get_current_profile_name() == "deep":
            seed = hypothesis.core.global_force_seed
            again += f" --hypothesis-profile=deep --hypothesis-seed={seed}"
        report.sections.append(("To repeat", again))
    return report
