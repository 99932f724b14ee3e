"""The packs that ship, one TOML file per game; see docs/games.md."""
