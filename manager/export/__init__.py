"""The ledger as a plain file that an auditor can take away and prove without us."""
