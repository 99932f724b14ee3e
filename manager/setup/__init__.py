"""From a table's file to an open table: jackpots, people, link rules, the unit's settings."""
