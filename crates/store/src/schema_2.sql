-- What schema 2 adds to schema 1: the facts beside the counts by granule. Explained in docs/profile.md.

CREATE TABLE card (
    model TEXT NOT NULL
);

CREATE TABLE filters (
    filter        INTEGER PRIMARY KEY,
    name          TEXT    NOT NULL,
    text          TEXT    NOT NULL,
    granule_bytes INTEGER NOT NULL,
    kinds         TEXT    NOT NULL,
    accessor      TEXT    NOT NULL,
    total         INTEGER NOT NULL,
    lost          INTEGER NOT NULL,
    refused       TEXT
);

CREATE TABLE filter_ranges (
    filter        INTEGER NOT NULL REFERENCES filters,
    position      INTEGER NOT NULL,
    start_address INTEGER NOT NULL,
    bytes         INTEGER NOT NULL,
    PRIMARY KEY (filter, position)
) WITHOUT ROWID;

CREATE TABLE filter_counters (
    filter   INTEGER NOT NULL REFERENCES filters,
    address  INTEGER NOT NULL,
    accessor INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (filter, address, accessor)
) WITHOUT ROWID;

CREATE TABLE secondary_counters (
    secondary INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL,
    text      TEXT    NOT NULL,
    count     INTEGER NOT NULL
);

CREATE TABLE card_events (
    event    INTEGER PRIMARY KEY,
    filter   INTEGER NOT NULL REFERENCES filters,
    address  INTEGER NOT NULL,
    accessor INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    time     INTEGER NOT NULL
);

CREATE TABLE phases (
    phase     INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL,
    begin     INTEGER NOT NULL,
    end       INTEGER NOT NULL,
    stretches INTEGER NOT NULL
);

CREATE TABLE phase_cells (
    phase    INTEGER NOT NULL REFERENCES phases,
    area     INTEGER NOT NULL REFERENCES areas,
    granule  INTEGER NOT NULL,
    granules INTEGER NOT NULL,
    node     INTEGER NOT NULL,
    local    INTEGER NOT NULL,
    remote   INTEGER NOT NULL,
    PRIMARY KEY (phase, area, granule, node)
) WITHOUT ROWID;

CREATE TABLE locks (
    lock         INTEGER PRIMARY KEY,
    kind         TEXT    NOT NULL,
    address      INTEGER NOT NULL,
    area         INTEGER REFERENCES areas,
    byte_offset  INTEGER NOT NULL,
    home         INTEGER NOT NULL,
    acquisitions INTEGER NOT NULL,
    contended    INTEGER NOT NULL,
    wait_cycles  INTEGER NOT NULL,
    transfers    INTEGER NOT NULL
);

CREATE TABLE lock_nodes (
    lock         INTEGER NOT NULL REFERENCES locks,
    position     INTEGER NOT NULL,
    node         INTEGER NOT NULL,
    acquisitions INTEGER NOT NULL,
    PRIMARY KEY (lock, position)
) WITHOUT ROWID;

CREATE TABLE first_touches (
    touch  INTEGER PRIMARY KEY,
    area   INTEGER NOT NULL REFERENCES areas,
    thread INTEGER NOT NULL,
    code   INTEGER NOT NULL,
    pages  INTEGER NOT NULL
);

CREATE TABLE places (
    place    INTEGER PRIMARY KEY,
    code     INTEGER NOT NULL,
    function TEXT    NOT NULL,
    file     TEXT    NOT NULL,
    line     INTEGER NOT NULL
);

CREATE TABLE contested_fields (
    line        INTEGER NOT NULL REFERENCES contested_lines,
    position    INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    byte_offset INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    PRIMARY KEY (line, position)
) WITHOUT ROWID;

-- What reached which part of an area, summed up so far that a reader need not see every counter. One row where the rows of
-- `counters` are many, none where they are few; `map.rs` of olifant-store knows the form.
CREATE TABLE granule_map (
    form  INTEGER NOT NULL,
    bytes BLOB    NOT NULL
);

-- Views.

CREATE VIEW phase_traffic AS
    SELECT phase, phases.name AS phase_name, begin, end, areas.name AS area, local, remote FROM phases JOIN (
        SELECT phase, area, sum(local) AS local, sum(remote) AS remote FROM phase_cells GROUP BY phase, area
    ) USING (phase) JOIN areas USING (area);

CREATE VIEW lock_costs AS
    SELECT lock, locks.kind, areas.name AS area, locks.byte_offset, home, acquisitions, contended, wait_cycles, transfers,
           CASE WHEN contended > 0 THEN 1.0 * wait_cycles / contended END AS cycles_per_wait
    FROM locks LEFT JOIN areas USING (area);

CREATE VIEW first_touch_sites AS
    SELECT area, name, first_touches.thread, pages, function, file, line
    FROM first_touches JOIN areas USING (area) LEFT JOIN places USING (code);
