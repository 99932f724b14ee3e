"""Set-up advice: what the chosen rates and seeds mean, before the first wager is taken."""
