-- Some minutes of each spot, since which calibration: what tells a pad that ages.
CREATE TABLE IF NOT EXISTS calibration (number INTEGER PRIMARY KEY, wall_ms INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS stretch (
    calibration INTEGER NOT NULL,
    sensor TEXT NOT NULL,
    wall_ms INTEGER NOT NULL,
    noise REAL,
    drift REAL NOT NULL,
    chip_level REAL,
    chip_count INTEGER NOT NULL,
    noise_calibrated REAL NOT NULL,
    empty_s INTEGER NOT NULL,
    disturbed_s INTEGER NOT NULL,
    PRIMARY KEY (calibration, sensor, wall_ms)
) STRICT, WITHOUT ROWID;
-- What happened beside the rounds since each of the last starts: one text a start, replaced whole.
CREATE TABLE IF NOT EXISTS diary (began_wall_ms INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
