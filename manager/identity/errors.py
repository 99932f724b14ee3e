"""What the identity desk refuses, as a sentence for the person who asked."""

from __future__ import annotations


class IdentityError(Exception):
    """Something about a unit's identity cannot be done; the sentence says what and why."""
