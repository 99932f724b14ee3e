-- The evidence of the last rounds, each replaced whole.
CREATE TABLE IF NOT EXISTS trace (
    round_number INTEGER PRIMARY KEY,
    body BLOB NOT NULL
) STRICT;
