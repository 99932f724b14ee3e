"""``python -m manager.odds``: the odds command without the rest of the manager."""

import sys

from manager.odds.cli import main

sys.exit(main())
