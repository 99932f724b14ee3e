"""The Game Manager: the ledger, the game packs, the tables' link and the operators' pages."""
