"""The ledger: double entry in integer micro-cents, append-only and hash-chained."""
