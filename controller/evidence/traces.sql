-- The evidence of the last rounds, each replaced whole.
CREATE TABLE IF NOT EXISTS trace (
    round_number INTEGER PRIMARY KEY,
    body BLOB NOT NULL
) STRICT;
-- What the table was told and decided, oldest first, and the rules that were in force.
CREATE TABLE IF NOT EXISTS decided (number INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS decided_under (
    number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    body BLOB NOT NULL
) STRICT;
