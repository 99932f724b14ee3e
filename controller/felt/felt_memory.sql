-- How the felt was at rest, so that a restart does not begin from nothing.
CREATE TABLE IF NOT EXISTS felt (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    calibration INTEGER NOT NULL,
    shared REAL NOT NULL,
    spots TEXT NOT NULL
) STRICT;
