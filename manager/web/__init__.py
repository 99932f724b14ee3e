"""The operators' pages: meters, tables, wins and alarms, live; and a win to print."""

from manager.web.api import ManagerApi
from manager.web.app import build

__all__ = ["ManagerApi", "build"]
