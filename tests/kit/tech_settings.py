"""Settings of a table that knows one tech, and the tech's PIN."""

from __future__ import annotations

import os
from dataclasses import replace

from protocol.secrets.tech_pin import hash_pin
from protocol.wire.settings import TechSetting
from tests.kit.message_samples import SETTINGS

PIN = "246813"
WITH_TECH = replace(SETTINGS, techs=(TechSetting("Tech 3", *hash_pin(PIN, os.urandom)),))
