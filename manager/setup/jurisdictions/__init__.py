"""The wager limits of jurisdictions, one TOML file each; none is in force unless it is chosen."""
