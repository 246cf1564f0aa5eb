"""The history's schema, as the steps that lead to it: one entry a schema version, in order.

An entry is never changed once released. Times are ISO 8601 in UTC; JSON stands in TEXT columns.
"""

# "MXSB": tells this file from any other SQLite database.
APPLICATION_ID = 0x4D585342

_VERSIONS = (
    """
    CREATE TABLE versions (
        sha256 TEXT PRIMARY KEY,
        text TEXT NOT NULL,
        recorded TEXT NOT NULL,
        variant TEXT,
        gpu TEXT,
        config TEXT,
        provenance TEXT,
        origin TEXT NOT NULL CHECK (origin IN ('build', 'file'))
    )
    """,
    """
    CREATE TABLE tags (
        name TEXT PRIMARY KEY,
        sha256 TEXT NOT NULL REFERENCES versions (sha256),
        moved TEXT NOT NULL
    )
    """,
    "CREATE INDEX tags_by_version ON tags (sha256)",
)

_RUNS_AND_SUBMISSIONS = (
    # A version may come from the service, too; SQLite changes a CHECK only by making the table anew. The text stands
    # last, as long rows are read up to the last column that is asked for.
    """
    CREATE TABLE new_versions (
        sha256 TEXT PRIMARY KEY,
        recorded TEXT NOT NULL,
        variant TEXT,
        gpu TEXT,
        origin TEXT NOT NULL CHECK (origin IN ('build', 'file', 'remote')),
        config TEXT,
        provenance TEXT,
        text TEXT NOT NULL
    )
    """,
    """
    INSERT INTO new_versions (rowid, sha256, recorded, variant, gpu, origin, config, provenance, text)
    SELECT rowid, sha256, recorded, variant, gpu, origin, config, provenance, text FROM versions
    """,
    "DROP TABLE versions",
    "ALTER TABLE new_versions RENAME TO versions",
    "CREATE INDEX versions_by_time ON versions (recorded)",
    # What lint said of a version, for a board and GPU: the latest only.
    """
    CREATE TABLE lints (
        sha256 TEXT NOT NULL REFERENCES versions (sha256),
        leaderboard TEXT NOT NULL,
        gpu TEXT NOT NULL,
        checked TEXT NOT NULL,
        mxsub TEXT NOT NULL,
        kernelguard TEXT NOT NULL,
        accepted INTEGER NOT NULL,
        findings TEXT NOT NULL,
        PRIMARY KEY (sha256, leaderboard, gpu)
    )
    """,
    # Runs of the task's evaluator on this machine. geometric_mean: ns, or wave instructions where it is virtual.
    """
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        sha256 TEXT NOT NULL REFERENCES versions (sha256),
        started TEXT NOT NULL,
        task TEXT NOT NULL,
        mode TEXT NOT NULL,
        whole INTEGER NOT NULL,
        gpu TEXT NOT NULL,
        virtual INTEGER NOT NULL,
        triton TEXT NOT NULL,
        outcome TEXT NOT NULL,
        geometric_mean REAL,
        detail TEXT NOT NULL
    )
    """,
    "CREATE INDEX runs_by_version ON runs (sha256, started)",
    "CREATE INDEX runs_by_time ON runs (started)",
    # Submissions to a service, each recorded before it is sent. sha256 and mode are NULL for one that was made
    # elsewhere, until it is pulled. score: seconds, as the service writes it. geometric_mean: us.
    """
    CREATE TABLE submissions (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        sha256 TEXT REFERENCES versions (sha256),
        service TEXT NOT NULL,
        account TEXT NOT NULL,
        leaderboard TEXT NOT NULL,
        gpu TEXT,
        mode TEXT,
        file_name TEXT NOT NULL,
        recorded TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('recorded', 'sent', 'accepted', 'finished', 'refused')),
        sent TEXT,
        newest_before INTEGER,
        remote_id INTEGER,
        submitted TEXT,
        status TEXT,
        error TEXT,
        heartbeat TEXT,
        finished TEXT,
        verdict TEXT,
        sentence TEXT,
        score TEXT,
        geometric_mean REAL,
        rank INTEGER,
        deleted TEXT,
        UNIQUE (service, remote_id)
    )
    """,
    "CREATE INDEX submissions_by_version ON submissions (sha256, recorded)",
    "CREATE INDEX submissions_by_time ON submissions (recorded)",
    "CREATE INDEX submissions_by_remote_id ON submissions (remote_id)",
    # The service's public runs of a submission.
    """
    CREATE TABLE results (
        submission INTEGER NOT NULL REFERENCES submissions (id),
        mode TEXT NOT NULL,
        started TEXT NOT NULL,
        ended TEXT NOT NULL,
        runner TEXT NOT NULL,
        passed INTEGER NOT NULL,
        score TEXT,
        result TEXT,
        PRIMARY KEY (submission, mode, started)
    )
    """,
    # What was new each time that the service was asked.
    """
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        submission INTEGER NOT NULL REFERENCES submissions (id),
        seen TEXT NOT NULL,
        facts TEXT NOT NULL
    )
    """,
    "CREATE INDEX events_by_submission ON events (submission)",
)

_SWEEPS = (
    # Many configs tried on a service. baseline: the config of each shape when it began; left_out: the candidates that
    # could not be built, and why. stopped: NULL while it may go on.
    """
    CREATE TABLE sweeps (
        uid TEXT PRIMARY KEY,
        begun TEXT NOT NULL,
        service TEXT NOT NULL,
        account TEXT NOT NULL,
        leaderboard TEXT NOT NULL,
        gpu TEXT NOT NULL,
        variant TEXT NOT NULL,
        wanted TEXT NOT NULL,
        baseline TEXT NOT NULL,
        left_out TEXT NOT NULL,
        stopped TEXT
    )
    """,
    "CREATE INDEX sweeps_by_time ON sweeps (begun)",
    # A sweep's submissions in the order they are made. candidates: by shape, what differs from the baseline.
    # submission: the uid that its attempt has, from the start, or will have.
    """
    CREATE TABLE trials (
        sweep TEXT NOT NULL REFERENCES sweeps (uid),
        position INTEGER NOT NULL,
        sha256 TEXT NOT NULL REFERENCES versions (sha256),
        candidates TEXT NOT NULL,
        submission TEXT NOT NULL UNIQUE,
        PRIMARY KEY (sweep, position)
    )
    """,
    "CREATE INDEX trials_by_version ON trials (sha256)",
)

_INSPECTIONS = (
    # What one call of a version does on the virtual GPU, by shape: the latest only. content: a Call, as JSON.
    """
    CREATE TABLE inspections (
        sha256 TEXT NOT NULL REFERENCES versions (sha256),
        shape TEXT NOT NULL,
        gpu TEXT NOT NULL,
        made TEXT NOT NULL,
        mxsub TEXT NOT NULL,
        triton TEXT NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (sha256, shape, gpu)
    )
    """,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_VERSIONS, _RUNS_AND_SUBMISSIONS, _SWEEPS, _INSPECTIONS)
