"""The bench page: a whole table drawn on one screen, to be played by hand."""

from sim.bench.web.api import BenchApi
from sim.bench.web.app import build

__all__ = ["BenchApi", "build"]
