-- Schema 1 of an Olifant profile. Explained in docs/profile.md.
-- 64-bit values are stored as SQLite's signed integers; an address or mask with its top bit set shows as negative.
-- No STRICT tables: SQLite before 3.37, still on supported systems, could not open the file.

CREATE TABLE run (
    program        TEXT    NOT NULL,
    machine        TEXT    NOT NULL,
    machine_toml   TEXT    NOT NULL,
    configuration  TEXT    NOT NULL,
    thread_policy  TEXT    NOT NULL,
    memory_policy  TEXT    NOT NULL,
    plan           TEXT,
    seed           INTEGER NOT NULL,
    evidence       TEXT    NOT NULL,
    is_complete    INTEGER NOT NULL,
    exit_code      INTEGER NOT NULL,
    version        TEXT    NOT NULL,
    granule_bytes  INTEGER NOT NULL
);

CREATE TABLE arguments (
    position INTEGER PRIMARY KEY,
    value    TEXT NOT NULL
);

CREATE TABLE totals (
    seconds             REAL,
    instructions        INTEGER NOT NULL,
    reads               INTEGER NOT NULL,
    writes              INTEGER NOT NULL,
    tlb_misses          INTEGER NOT NULL,
    l1_misses           INTEGER NOT NULL,
    l2_misses           INTEGER NOT NULL,
    upgrades            INTEGER NOT NULL,
    write_backs         INTEGER NOT NULL,
    remote_transactions INTEGER NOT NULL,
    request_packets     INTEGER NOT NULL,
    response_packets    INTEGER NOT NULL,
    network_bytes       INTEGER NOT NULL,
    host_seconds        REAL,
    digest              TEXT    NOT NULL
);

CREATE TABLE cpus (
    cpu          INTEGER PRIMARY KEY,
    node         INTEGER NOT NULL,
    cycles       INTEGER NOT NULL,
    idle_cycles  INTEGER NOT NULL,
    instructions INTEGER NOT NULL,
    reads        INTEGER NOT NULL,
    writes       INTEGER NOT NULL,
    tlb_misses   INTEGER NOT NULL,
    l1_misses    INTEGER NOT NULL,
    l2_misses    INTEGER NOT NULL,
    upgrades     INTEGER NOT NULL,
    write_backs  INTEGER NOT NULL
);

CREATE TABLE nodes (
    node                INTEGER PRIMARY KEY,
    transactions        INTEGER NOT NULL,
    remote_transactions INTEGER NOT NULL,
    requests_out        INTEGER NOT NULL,
    requests_in         INTEGER NOT NULL,
    responses_out       INTEGER NOT NULL,
    responses_in        INTEGER NOT NULL,
    bus_utilisation     REAL,
    unit_utilisation    REAL,
    pages               INTEGER NOT NULL
);

CREATE TABLE links (
    link        INTEGER PRIMARY KEY,
    from_vertex TEXT    NOT NULL,
    to_vertex   TEXT    NOT NULL,
    packets     INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    utilisation REAL
);

CREATE TABLE threads (
    thread  INTEGER PRIMARY KEY,
    name    TEXT    NOT NULL,
    cpu     INTEGER NOT NULL,
    node    INTEGER NOT NULL,
    started INTEGER NOT NULL,
    ended   INTEGER NOT NULL,
    routine INTEGER NOT NULL
);

CREATE TABLE modules (
    module        INTEGER PRIMARY KEY,
    path          TEXT    NOT NULL,
    bias          INTEGER NOT NULL,
    start_address INTEGER NOT NULL,
    end_address   INTEGER NOT NULL
);

CREATE TABLE sites (
    site INTEGER PRIMARY KEY
);

CREATE TABLE site_path (
    site    INTEGER NOT NULL REFERENCES sites,
    depth   INTEGER NOT NULL,
    address INTEGER NOT NULL,
    PRIMARY KEY (site, depth)
) WITHOUT ROWID;

CREATE TABLE frames (
    site     INTEGER NOT NULL REFERENCES sites,
    depth    INTEGER NOT NULL,
    function TEXT    NOT NULL,
    file     TEXT    NOT NULL,
    line     INTEGER NOT NULL,
    PRIMARY KEY (site, depth)
) WITHOUT ROWID;

CREATE TABLE areas (
    area          INTEGER PRIMARY KEY,
    kind          TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    start_address INTEGER NOT NULL,
    bytes         INTEGER NOT NULL,
    site          INTEGER REFERENCES sites,
    ordinal       INTEGER NOT NULL,
    thread        INTEGER NOT NULL,
    born          INTEGER NOT NULL,
    freed         INTEGER
);

CREATE TABLE granules (
    area    INTEGER NOT NULL REFERENCES areas,
    granule INTEGER NOT NULL,
    home    INTEGER NOT NULL,
    PRIMARY KEY (area, granule)
) WITHOUT ROWID;

CREATE TABLE counters (
    area        INTEGER NOT NULL,
    granule     INTEGER NOT NULL,
    thread      INTEGER NOT NULL,
    node        INTEGER NOT NULL,
    reads       INTEGER NOT NULL,
    writes      INTEGER NOT NULL,
    upgrades    INTEGER NOT NULL,
    write_backs INTEGER NOT NULL,
    PRIMARY KEY (area, granule, thread, node),
    FOREIGN KEY (area, granule) REFERENCES granules
) WITHOUT ROWID;

CREATE TABLE contested_lines (
    line        INTEGER PRIMARY KEY,
    area        INTEGER NOT NULL REFERENCES areas,
    byte_offset INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    transfers   INTEGER NOT NULL,
    sharing     TEXT    NOT NULL
);

CREATE TABLE contested_accessors (
    line       INTEGER NOT NULL REFERENCES contested_lines,
    thread     INTEGER NOT NULL,
    reads      INTEGER NOT NULL,
    writes     INTEGER NOT NULL,
    read_mask  INTEGER NOT NULL,
    write_mask INTEGER NOT NULL,
    code       INTEGER NOT NULL,
    PRIMARY KEY (line, thread)
) WITHOUT ROWID;

-- Views. A transaction is a line fetched to read, a line fetched to write, a permission to write (an upgrade), or a line
-- written back. Remote: the accessor's node is not the home of the granule.

CREATE VIEW transactions AS
    SELECT area, granule, home, thread, node, kind, count, node <> home AS is_remote FROM (
        SELECT *, 'read' AS kind, reads AS count FROM counters JOIN granules USING (area, granule)
        UNION ALL
        SELECT *, 'write', writes FROM counters JOIN granules USING (area, granule)
        UNION ALL
        SELECT *, 'upgrade', upgrades FROM counters JOIN granules USING (area, granule)
        UNION ALL
        SELECT *, 'write-back', write_backs FROM counters JOIN granules USING (area, granule)
    ) WHERE count <> 0;

CREATE VIEW granule_traffic AS
    SELECT area, granule, home, thread, node, reads + writes + upgrades + write_backs AS transactions,
           node <> home AS is_remote
    FROM counters JOIN granules USING (area, granule);

CREATE VIEW area_sites AS
    SELECT area, name, kind, bytes, ordinal, function, file, line
    FROM areas LEFT JOIN frames ON frames.site = areas.site AND frames.depth = 0;

CREATE VIEW area_traffic AS
    SELECT area, name, kind, bytes, function, file, line, local, remote,
           CASE WHEN local + remote > 0 THEN 1.0 * remote / (local + remote) END AS remote_share
    FROM area_sites JOIN (
        SELECT area,
               sum(CASE WHEN is_remote THEN 0 ELSE transactions END) AS local,
               sum(CASE WHEN is_remote THEN transactions ELSE 0 END) AS remote
        FROM granule_traffic GROUP BY area
    ) USING (area);

CREATE VIEW area_traffic_by_node AS
    SELECT area, name, node, home, transactions, is_remote
    FROM areas JOIN (
        SELECT area, node, home, is_remote, sum(transactions) AS transactions
        FROM granule_traffic GROUP BY area, node, home
    ) USING (area);

CREATE VIEW node_traffic AS
    SELECT node, home, sum(transactions) AS transactions FROM granule_traffic GROUP BY node, home;

CREATE VIEW thread_traffic AS
    SELECT thread,
           sum(CASE WHEN is_remote THEN 0 ELSE transactions END) AS local,
           sum(CASE WHEN is_remote THEN transactions ELSE 0 END) AS remote
    FROM granule_traffic GROUP BY thread;

CREATE VIEW contested_areas AS
    SELECT area, name, sharing, count(*) AS lines, sum(transfers) AS transfers
    FROM contested_lines JOIN areas USING (area) GROUP BY area, sharing;
