-- Who may speak for which table. Kept beside the ledger, not in it: it is no record of money, and a
-- copy of the ledger for an auditor tells nothing of codes and certificates.

CREATE TABLE codes (
    number INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    salt BLOB NOT NULL,
    hash BLOB NOT NULL,
    made_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    wrong_count INTEGER NOT NULL DEFAULT 0,
    used_by BLOB NOT NULL DEFAULT x''       -- digest of the request that used it
) STRICT;

CREATE TABLE requests (
    number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    unit_id TEXT NOT NULL,
    table_id TEXT NOT NULL,
    signing_request BLOB NOT NULL,
    seal_key BLOB NOT NULL,
    nonce BLOB NOT NULL,
    match TEXT NOT NULL,
    received_ms INTEGER NOT NULL,
    wrong_count INTEGER NOT NULL DEFAULT 0,
    denied TEXT NOT NULL DEFAULT '',        -- why, in a sentence for the unit
    certificate BLOB NOT NULL DEFAULT x''   -- once approved
) STRICT;

-- A certificate counts while `ended` is empty: revoking a unit is this one row.
CREATE TABLE certificates (
    fingerprint TEXT PRIMARY KEY,
    unit_id TEXT NOT NULL,
    issued_ms INTEGER NOT NULL,
    first_used_ms INTEGER NOT NULL DEFAULT 0,
    ended_ms INTEGER NOT NULL DEFAULT 0,
    ended TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE INDEX certificates_by_unit ON certificates (unit_id, issued_ms);

CREATE TABLE seal_keys (
    unit_id TEXT NOT NULL,
    public_key BLOB NOT NULL CHECK (length(public_key) = 32),
    registered_ms INTEGER NOT NULL,
    PRIMARY KEY (unit_id, public_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE log (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    code TEXT NOT NULL,
    unit_id TEXT NOT NULL,
    table_id TEXT NOT NULL,
    sentence TEXT NOT NULL
) STRICT;

CREATE TABLE told (number INTEGER NOT NULL) STRICT;   -- up to here the log is in the alarms
INSERT INTO told VALUES (0);

CREATE TRIGGER log_refuse_update BEFORE UPDATE ON log
BEGIN SELECT raise(ABORT, 'The log is append-only.'); END;
CREATE TRIGGER log_refuse_delete BEFORE DELETE ON log
BEGIN SELECT raise(ABORT, 'The log is append-only.'); END;
