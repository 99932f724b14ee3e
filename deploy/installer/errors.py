"""The one way in which an installer says no."""

from __future__ import annotations


class InstallRefused(Exception):  # noqa: N818 - a sentence for the tech
    """Nothing was switched; the sentence says why and what to do."""
