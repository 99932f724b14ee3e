"""A pretend manager, and a browser that is signed in to its pages."""

from __future__ import annotations

import pytest

from tests.kit.manager_views import FakeManager
from tests.kit.page_client import Browser
from tests.kit.people import open_pages


@pytest.fixture
def manager() -> FakeManager:
    return FakeManager()


@pytest.fixture
def browser(manager: FakeManager) -> Browser:
    return Browser(open_pages(manager))
