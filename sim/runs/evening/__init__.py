"""Realistic play: cards dealt by each game's own rules, people at a table, and whole books."""
