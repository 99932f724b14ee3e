"""Proves a ledger from its first entry, with arithmetic of its own."""
