PRAGMA application_id = 1430669636;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE certificates (
    fingerprint TEXT PRIMARY KEY,
    unit_id TEXT NOT NULL,
    issued_ms INTEGER NOT NULL,
    first_used_ms INTEGER NOT NULL DEFAULT 0,
    ended_ms INTEGER NOT NULL DEFAULT 0,
    ended TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
INSERT INTO "certificates" VALUES('abababababababababababababababababababababababababababababababab','UF-0001',1790000000000,0,1790000000000,'it was revoked: stolen');
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
CREATE TABLE log (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    code TEXT NOT NULL,
    unit_id TEXT NOT NULL,
    table_id TEXT NOT NULL,
    sentence TEXT NOT NULL
) STRICT;
INSERT INTO "log" VALUES(1,1790000000000,'ENROLLED','UF-0001','touch-1','Unit UF-0001 is enrolled.');
INSERT INTO "log" VALUES(2,1790000000000,'REVOKED','UF-0001','','The certificate abababababababab of unit UF-0001 ended: it was revoked: stolen');
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
CREATE TABLE seal_keys (
    unit_id TEXT NOT NULL,
    public_key BLOB NOT NULL CHECK (length(public_key) = 32),
    registered_ms INTEGER NOT NULL,
    PRIMARY KEY (unit_id, public_key)
) STRICT, WITHOUT ROWID;
INSERT INTO "seal_keys" VALUES('UF-0001',X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F',1790000000000);
CREATE TABLE told (number INTEGER NOT NULL) STRICT;
INSERT INTO "told" VALUES(0);
CREATE INDEX certificates_by_unit ON certificates (unit_id, issued_ms);
CREATE TRIGGER log_refuse_update BEFORE UPDATE ON log
BEGIN SELECT raise(ABORT, 'The log is append-only.'); END;
CREATE TRIGGER log_refuse_delete BEFORE DELETE ON log
BEGIN SELECT raise(ABORT, 'The log is append-only.'); END;
COMMIT;
