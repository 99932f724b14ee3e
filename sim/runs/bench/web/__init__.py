"""The bench page: a whole table drawn on one screen, to be played by hand."""

from sim.runs.bench.web.api import BenchApi
from sim.runs.bench.web.app import build

__all__ = ["BenchApi", "build"]
