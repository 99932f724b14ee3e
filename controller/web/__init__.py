"""The unit's own pages: the dealer's panel and the players' jackpot display."""

from controller.web.api import Answer, TableApi
from controller.web.app import build

__all__ = ["Answer", "TableApi", "build"]
