-- The unit's journal. Records only ever follow one another, never change, and leave only behind the
-- anchor; the triggers below hold whoever writes to that.

CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    journal_id BLOB NOT NULL CHECK (length(journal_id) = 16),
    unit_id TEXT NOT NULL,
    created_wall_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE record (
    sequence INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    body BLOB NOT NULL,
    monotonic_ms INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;
CREATE TABLE anchor (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    sequence INTEGER NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    claim_number INTEGER NOT NULL,
    baseline BLOB NOT NULL,
    baseline_digest BLOB NOT NULL CHECK (length(baseline_digest) = 32)
) STRICT;
CREATE TABLE acked (one INTEGER PRIMARY KEY CHECK (one = 1), sequence INTEGER NOT NULL) STRICT;
-- The ledger's tail that the manager told last, in two copies.
CREATE TABLE tail (
    copy INTEGER PRIMARY KEY CHECK (copy IN (1, 2)),
    body BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;
CREATE TABLE boot (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL) STRICT;
CREATE TABLE settings (
    copy INTEGER PRIMARY KEY CHECK (copy IN (1, 2)),
    body BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;
CREATE TABLE state_a (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    image BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;
CREATE TABLE state_b (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    image BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;
CREATE TABLE salvage (
    number INTEGER PRIMARY KEY,
    journal_id BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    body BLOB NOT NULL,
    monotonic_ms INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL,
    digest BLOB NOT NULL,
    follows INTEGER NOT NULL
) STRICT;
-- What the dealer has pressed so far and nobody else has to know: the newest of each kind, and the
-- record it came after.
CREATE TABLE moment (
    kind INTEGER PRIMARY KEY,
    after_sequence INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE TRIGGER record_follows BEFORE INSERT ON record
WHEN NEW.sequence <> 1 + coalesce(
    (SELECT max(sequence) FROM record), (SELECT sequence FROM anchor))
BEGIN SELECT raise(ABORT, 'a journal record must follow the one before it'); END;
CREATE TRIGGER record_never_changes BEFORE UPDATE ON record
BEGIN SELECT raise(ABORT, 'a journal record never changes'); END;
CREATE TRIGGER record_leaves_behind_the_anchor BEFORE DELETE ON record
WHEN OLD.sequence > (SELECT sequence FROM anchor)
BEGIN SELECT raise(ABORT, 'a journal record may leave only behind the anchor'); END;
CREATE TRIGGER anchor_never_goes_back BEFORE UPDATE ON anchor
WHEN NEW.sequence < OLD.sequence OR NEW.claim_number < OLD.claim_number
BEGIN SELECT raise(ABORT, 'the journal anchor never goes back'); END;
CREATE TRIGGER anchor_stays BEFORE DELETE ON anchor
BEGIN SELECT raise(ABORT, 'the journal anchor stays'); END;
CREATE TRIGGER meta_never_changes BEFORE UPDATE ON meta
BEGIN SELECT raise(ABORT, 'the journal id never changes'); END;
CREATE TRIGGER meta_stays BEFORE DELETE ON meta
BEGIN SELECT raise(ABORT, 'the journal id stays'); END;
