"""The books in memory: steps, entries, balances and the chain. What keeps them is in `engines`."""
