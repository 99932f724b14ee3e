"""Setting up a table in the browser: from a game's pack to its opening, and the groups it links."""
