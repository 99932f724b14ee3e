-- What version 2 adds to a ledger: terms that change, corrections, policies, joined seats.

-- Append-only: the policy each meter of a win was paid by, as it was then.
CREATE TABLE win_policies (
    win_number INTEGER NOT NULL REFERENCES wins (number),
    meter_id TEXT NOT NULL,
    policy TEXT NOT NULL,
    PRIMARY KEY (win_number, meter_id)
) STRICT, WITHOUT ROWID;

-- Append-only: a win is reversed at most once, by one ledger transaction.
CREATE TABLE win_reversals (
    win_number INTEGER PRIMARY KEY REFERENCES wins (number),
    transaction_number INTEGER NOT NULL UNIQUE REFERENCES transactions (number)
) STRICT;

-- Append-only: a reversed win is recorded anew at most once.
CREATE TABLE win_replacements (
    win_number INTEGER PRIMARY KEY REFERENCES wins (number),
    replaces INTEGER NOT NULL UNIQUE REFERENCES win_reversals (win_number)
) STRICT;

-- Append-only: seats that one player holds together in a round.
CREATE TABLE round_joins (
    table_id TEXT NOT NULL,
    round_number INTEGER NOT NULL,
    seats TEXT NOT NULL,
    PRIMARY KEY (table_id, round_number)
) STRICT, WITHOUT ROWID;

-- Append-only: which game a table plays on each of its sensors, as the house named it.
CREATE TABLE table_games (
    table_id TEXT NOT NULL,
    letter TEXT NOT NULL,
    game TEXT NOT NULL,
    PRIMARY KEY (table_id, letter)
) STRICT, WITHOUT ROWID;

-- State that moves with the transactions: the terms in force, and how a jackpot stands.
CREATE TABLE jackpot_terms (
    jackpot_id TEXT PRIMARY KEY REFERENCES jackpots (id),
    terms TEXT NOT NULL,
    pending TEXT NOT NULL,
    applied_by INTEGER NOT NULL,
    suspended TEXT NOT NULL,
    closed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX transactions_by_time ON transactions (commit_ms);
