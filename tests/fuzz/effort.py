"""How many examples a fuzz test tries: few on every run, many with `--hypothesis-profile=deep`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

DEEP_FACTOR = 50


def examples(count: int) -> settings:
    """`count` examples in the ordinary run."""
    factor = DEEP_FACTOR if settings.get_current_profile_name() == "deep" else 1
    return settings(max_examples=count * factor, suppress_health_check=[HealthCheck.too_slow])
