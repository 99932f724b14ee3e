-- What only PostgreSQL has: who may write, and how one call writes a batch. The relations are those
-- of schema.sql. Numbers are the books' own, never a sequence, which has gaps after a failure.

CREATE TABLE format (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL
);

-- One row: who owns the ledger, since when, and where its chain ends. Times are the database's own.
CREATE TABLE lease (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    owner text NOT NULL,             -- of one start of one process; '' while nobody has it
    name text NOT NULL DEFAULT '',   -- what people call that manager
    wanted text NOT NULL DEFAULT '', -- the manager to which somebody asked to move it
    wanted_until timestamptz NOT NULL DEFAULT '-infinity',
    epoch bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    backend integer NOT NULL,        -- the owner's server process, so that a taker can end it
    last_number bigint NOT NULL,
    last_digest bytea NOT NULL
) WITH (fillfactor = 50);            -- updated at every commit: room for its next version beside it

-- The managers that own this ledger or stand by for it, and where they are reached.
CREATE TABLE managers (
    name text PRIMARY KEY,
    link text NOT NULL,              -- HOST:PORT, where units come in
    web text NOT NULL,               -- HOST:PORT of its pages
    seen_at timestamptz NOT NULL,
    is_serving boolean NOT NULL      -- its doors are open for units
) WITH (fillfactor = 50);

-- The first step of every commit: it raises, so that nothing behind it is written. An owner that
-- commits is alive, so the lease is renewed by it.
CREATE FUNCTION fence(
    by_owner text, at_epoch bigint, after_number bigint, after_digest bytea,
    newest_number bigint, newest_digest bytea, lease_s double precision
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE lease
       SET last_number = newest_number, last_digest = newest_digest,
           expires_at = clock_timestamp() + make_interval(secs => lease_s)
     WHERE owner = by_owner AND epoch = at_epoch
       -- An empty ledger has no digest yet: its chain begins at its own id.
       AND last_number = after_number AND (last_number = 0 OR last_digest = after_digest);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The ledger is owned by somebody else, or its chain has moved on.'
            USING ERRCODE = 'UF001';
    END IF;
END $$;

-- Rights alone do not bind the tables' owner; a trigger does until somebody drops it, and then the
-- chain tells.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The % are append-only.', TG_TABLE_NAME USING ERRCODE = 'UF002';
END $$;

-- An event is taken in once, whatever the books believe.
CREATE UNIQUE INDEX events_once ON transactions (unit_id, event_sequence, journal_id)
WHERE length(journal_id) > 0;
