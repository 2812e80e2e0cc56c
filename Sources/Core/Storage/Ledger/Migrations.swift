import GRDB

/// The ledger's schema, one step per version; a released step is never edited (CONTRIBUTING.md, "A new migration of the ledger").
enum Migrations {
    static func migrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for step in all { migrator.registerMigration(step.name) { try $0.execute(sql: step.sql) } }
        return migrator
    }

    private static let all: [(name: String, sql: String)] = [
        ("1 files, jobs, steps", first),
        ("2 why a file was refused, in one word", "ALTER TABLE quarantine ADD COLUMN code TEXT"),
        (
            "3 which folder a place is, and what is known of one that is away",
            """
            ALTER TABLE place ADD COLUMN identity TEXT;
            ALTER TABLE place ADD COLUMN other TEXT;
            ALTER TABLE file ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
            """
        ),
        ("4 what a note holds, and who has held it", keptBlocks),
        (
            "5 which files have one size, and which products one content",
            """
            CREATE INDEX fileBySize ON file (place, size) WHERE present;
            CREATE INDEX productByHash ON product (hash);
            """
        ),
        (
            "6 when files were made, and which rules they have met",
            """
            ALTER TABLE file ADD COLUMN born INTEGER;
            -- The rules in force when it was judged, and those of them that it has met, as a JSON list of names.
            ALTER TABLE file ADD COLUMN era TEXT;
            ALTER TABLE file ADD COLUMN met TEXT;
            CREATE TABLE era (id TEXT PRIMARY KEY, rules TEXT NOT NULL, seen INTEGER NOT NULL) WITHOUT ROWID;
            """
        ),
        ("7 texts that intents name", texts),
        ("8 indexes of what is looked for", indexes),
        ("9 events that are to be published", outbox),
        ("10 what waits in the outbox and what was given up, apart", outboxApart),
        (
            "11 what the attributes of files were, and since when they have their content",
            """
            -- What rules have looked at, as JSON; NULL where none does.
            ALTER TABLE file ADD COLUMN attributes TEXT;
            ALTER TABLE file ADD COLUMN contentSince INTEGER;
            """
        ),
        ("12 what becomes due, and schedules", time),
        ("13 what follows where a job fails", "ALTER TABLE job ADD COLUMN onFailure TEXT"),
        ("14 questions to a person", questions),
        ("15 counters", counters),
        ("16 which line or page a step is about", "ALTER TABLE step ADD COLUMN item TEXT"),
        ("17 folders as things", folders),
        ("18 what was in folders that jobs have taken", taken),
        ("19 which list of a folder its lineage is of", "ALTER TABLE folder ADD COLUMN lineageOf BLOB"),
        ("20 where the files of jobs are now", whereabouts),
        ("21 steps in the order in which they come", steps),
        ("22 history in its own order", "DROP INDEX historyByTime"),
        // An inode alone is reused as soon as the temporary file is gone.
        ("23 when temporary files were made", "ALTER TABLE staged ADD COLUMN born INTEGER"),
        (
            "24 since which step of a chain a file is the same",
            """
            -- What was moved since is the same file; NULL for `depth`, as if it had just been made.
            ALTER TABLE product ADD COLUMN origin INTEGER;
            ALTER TABLE job ADD COLUMN origin INTEGER;
            """
        ),
        ("25 how far a schedule has got by a clock that was put back", "ALTER TABLE schedule ADD COLUMN low INTEGER"),
        // Queried at each start; without the index, every remembered step would be read.
        ("26 steps whose undo was cut off", "CREATE INDEX stepBeingUndone ON step (job) WHERE state = 'undoing'"),
        // Changes nothing, but keeps older versions out: they cannot read the new encoding of values.
        ("27 values as JSON has them", ""),
        ("28 one present name for a file with one link", once),
        (
            "29 jobs of what lay there, which come after those of what arrives",
            """
            ALTER TABLE job ADD COLUMN backlog INTEGER NOT NULL DEFAULT 0;
            DROP INDEX jobByState;
            CREATE INDEX jobByState ON job (state, backlog);
            """
        ),
        ("30 what PostgreSQL takes as well, and which index is looked into", portable),
        ("31 columns by the names of what they hold", renamed),
    ]

    /// `firstJob` is the job at the start of a chain of files made from files. `ownDigest` is the content of a folder
    /// as the agent left it. `ruleSet` identifies the rules in force at the last judgement, and `matched` names those
    /// that matched. `since` is the version of a note in which a block or line first appeared.
    private static let renamed = """
        ALTER TABLE job RENAME COLUMN lineage TO firstJob;
        ALTER TABLE product RENAME COLUMN lineage TO firstJob;
        ALTER TABLE folder RENAME COLUMN lineage TO firstJob;
        ALTER TABLE folder RENAME COLUMN lineageOf TO ownDigest;
        ALTER TABLE era RENAME TO ruleSet;
        ALTER TABLE file RENAME COLUMN era TO ruleSet;
        ALTER TABLE file RENAME COLUMN met TO matched;
        ALTER TABLE file RENAME COLUMN born TO birthTime;
        ALTER TABLE folder RENAME COLUMN era TO ruleSet;
        ALTER TABLE folder RENAME COLUMN met TO matched;
        ALTER TABLE takenFile RENAME COLUMN era TO ruleSet;
        ALTER TABLE takenFile RENAME COLUMN met TO matched;
        ALTER TABLE takenFile RENAME COLUMN born TO birthTime;
        ALTER TABLE takenFolder RENAME COLUMN era TO ruleSet;
        ALTER TABLE takenFolder RENAME COLUMN met TO matched;
        ALTER TABLE staged RENAME COLUMN born TO birthTime;
        ALTER TABLE keptBlock RENAME COLUMN born TO since;
        """

    /// Gives indexes the same conditions as the queries, and statistics that make SQLite's planner choose them:
    /// otherwise it scans all files of a place, all blocks of a note, or all events ever sent.
    private static let portable = """
        DROP INDEX fileBySize;
        CREATE INDEX fileBySize ON file (place, size) WHERE present = 1;
        DROP INDEX fileOnce;
        CREATE UNIQUE INDEX fileOnce ON file (place, inode, device) WHERE present = 1 AND links = 1;
        ANALYZE sqlite_master;
        DELETE FROM sqlite_stat1;
        INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
            ('file', 'file', '1000000 100000 1'), ('file', 'fileByInode', '1000000 100000 1'),
            ('file', 'fileBySize', '1000000 100000 10'),
            ('folder', 'folder', '10000 1000 1'), ('folder', 'folderByInode', '10000 1000 1'),
            ('keptBlock', 'keptBlock', '1000 100 1'), ('keptBlock', 'keptBlockMissing', '10 2'),
            ('outbox', NULL, '1000000'), ('outbox', 'outboxWaiting', '100 50 10 1'), ('outbox', 'outboxDead', '10 5 2 1');
        ANALYZE sqlite_master;
        """

    /// `docs/design/events.md`, "One file, one name". Older rows, and rows for files the agent made, have no link count
    /// and are outside the index, so duplicates in an older ledger do not violate it.
    private static let once = """
        ALTER TABLE file ADD COLUMN links INTEGER;
        CREATE UNIQUE INDEX fileOnce ON file (place, inode, device) WHERE present AND links = 1;
        """

    /// Stores a job's rows together on one page, after those of the job before. Ordered by job id, which is a hash,
    /// each row was on its own page, with its overflow on another.
    private static let steps = """
        CREATE TABLE stepInOrder (
            job TEXT NOT NULL, number INTEGER NOT NULL, action TEXT NOT NULL, arguments TEXT NOT NULL,
            repeatSafe INTEGER NOT NULL, state TEXT NOT NULL, intent TEXT, receipt TEXT, finished INTEGER, item TEXT,
            id INTEGER PRIMARY KEY);
        INSERT INTO stepInOrder (job, number, action, arguments, repeatSafe, state, intent, receipt, finished, item)
            SELECT step.job, number, action, arguments, repeatSafe, step.state, intent, receipt, finished, item
            FROM step LEFT JOIN job ON job.id = step.job ORDER BY job.sequence, number;
        DROP TABLE step;
        ALTER TABLE stepInOrder RENAME TO step;
        CREATE UNIQUE INDEX stepOfJob ON step (job, number);
        """

    /// `docs/design/folders.md`. `nowPath` is NULL if the file still has the name under which it was judged.
    private static let whereabouts = """
        ALTER TABLE job ADD COLUMN nowPlace TEXT;
        ALTER TABLE job ADD COLUMN nowPath BLOB;
        CREATE INDEX jobByNow ON job (nowPlace, nowPath) WHERE nowPath IS NOT NULL;
        """

    /// `docs/design/folders.md`. `top` is the folder's old path, and `below` a path within it.
    private static let taken = """
        CREATE TABLE takenFile (
            job TEXT NOT NULL, place TEXT NOT NULL, top BLOB NOT NULL, below BLOB NOT NULL,
            device INTEGER NOT NULL, inode INTEGER NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
            changed INTEGER NOT NULL, hash BLOB, version INTEGER NOT NULL, born INTEGER, era TEXT, met TEXT,
            attributes TEXT, arrived INTEGER, PRIMARY KEY (job, place, below)) WITHOUT ROWID;
        CREATE TABLE takenFolder (
            job TEXT NOT NULL, place TEXT NOT NULL, top BLOB NOT NULL, below BLOB NOT NULL,
            device INTEGER NOT NULL, inode INTEGER NOT NULL, digest BLOB, version INTEGER NOT NULL, era TEXT, met TEXT,
            arrived INTEGER, PRIMARY KEY (job, place, below)) WITHOUT ROWID;
        CREATE TEMP TABLE top AS
            SELECT went AS job, place, path, min(length(path)) AS size FROM folder WHERE went IS NOT NULL GROUP BY 1, 2;
        INSERT INTO takenFolder
            SELECT went, folder.place, top.path, substr(folder.path, top.size + 2), device, inode, digest, version, era, met,
                arrived
            FROM folder JOIN top ON top.job = went AND top.place = folder.place;
        INSERT INTO takenFile
            SELECT went, file.place, top.path, substr(file.path, top.size + 2), device, inode, file.size, modified, changed,
                hash, version, born, era, met, attributes, arrived
            FROM file JOIN top ON top.job = went AND top.place = file.place
            WHERE substr(file.path, 1, top.size) = top.path;
        DROP TABLE top;
        DROP INDEX fileByWent;
        DROP INDEX folderByWent;
        ALTER TABLE file DROP COLUMN went;
        ALTER TABLE folder DROP COLUMN went;
        """

    /// `docs/design/folders.md`. `digest` is NULL for a folder that no rule has judged. `went` names the job that took
    /// a folder and its files out of the place. `lineage` and `depth` apply until its new place has judged it.
    private static let folders = """
        CREATE TABLE folder (
            place TEXT NOT NULL, path BLOB NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL,
            digest BLOB, present INTEGER NOT NULL, version INTEGER NOT NULL, seen INTEGER NOT NULL,
            era TEXT, met TEXT, arrived INTEGER, went TEXT, lineage TEXT, depth INTEGER,
            PRIMARY KEY (place, path)) WITHOUT ROWID;
        CREATE INDEX folderByInode ON folder (place, inode);
        CREATE INDEX folderByWent ON folder (went) WHERE went IS NOT NULL;
        ALTER TABLE file ADD COLUMN went TEXT;
        CREATE INDEX fileByWent ON file (went) WHERE went IS NOT NULL;
        """

    /// `docs/design/time.md`. The index begins with the place, so that one that is away or does not answer delays no
    /// other.
    private static let time = """
        -- `id` is given once: a row of a rule that is gone never counts for another. `isReckoned` says that the files that
        -- were there before the rule have been entered.
        CREATE TABLE timedRule (
            id INTEGER PRIMARY KEY AUTOINCREMENT, identity TEXT NOT NULL UNIQUE, isReckoned INTEGER NOT NULL DEFAULT 0);
        -- `rule` 0: which rules may come to want the file is yet to be told. `instant` is the smallest number where the row
        -- is of no schedule.
        CREATE TABLE due (
            place TEXT NOT NULL, path BLOB NOT NULL, rule INTEGER NOT NULL, scheduled INTEGER NOT NULL,
            due INTEGER NOT NULL, instant INTEGER NOT NULL,
            PRIMARY KEY (place, path, rule, scheduled)) WITHOUT ROWID;
        CREATE INDEX dueByTime ON due (place, due);
        CREATE TABLE schedule (
            rule TEXT PRIMARY KEY, spec TEXT NOT NULL, anchor INTEGER NOT NULL, last INTEGER NOT NULL, next INTEGER,
            entering INTEGER) WITHOUT ROWID;
        -- When the file came, for rules that ask how long it has been there.
        ALTER TABLE file ADD COLUMN arrived INTEGER;
        """

    /// `docs/design/publish.md`. A body is stored in `text`, with the use `delivery`.
    private static let outbox = """
        -- `id` is the step's, of which the receiver's idempotency key is made. Of one `target` and `orderKey` one goes at a
        -- time, in the order of `sequence`.
        CREATE TABLE outbox (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, job TEXT NOT NULL,
            target TEXT NOT NULL, path TEXT NOT NULL, event TEXT NOT NULL, orderKey TEXT NOT NULL,
            hash BLOB NOT NULL, size INTEGER NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
            firstAttempt INTEGER, nextAttempt INTEGER, status INTEGER, problem TEXT,
            created INTEGER NOT NULL, updated INTEGER NOT NULL);
        CREATE INDEX outboxOpen ON outbox (target, orderKey, sequence) WHERE state <> 'delivered';
        """

    /// Finds a lane's next event regardless of how many were given up or taken out. `triedFor` is in nanoseconds.
    private static let outboxApart = """
        ALTER TABLE outbox ADD COLUMN triedFor INTEGER NOT NULL DEFAULT 0;
        DROP INDEX outboxOpen;
        CREATE INDEX outboxWaiting ON outbox (target, orderKey, sequence) WHERE state IN ('waiting', 'sending');
        CREATE INDEX outboxDead ON outbox (target, orderKey, sequence) WHERE state = 'dead';
        """

    /// Random keys scatter over an index, so every row of a burst dirties another page. Columns that are never searched
    /// lose their index; those searched among a few rows get a partial one.
    private static let indexes = """
        DROP INDEX historyByJob;
        DROP INDEX jobByLineage;
        CREATE INDEX jobByLineage ON job (lineage, rule) WHERE lineage <> id;
        DROP INDEX keptBlockByStep;
        CREATE INDEX keptBlockMissing ON keptBlock (note) WHERE fate <> 'there';
        """

    /// `docs/design/exactly-once.md`. Older intents keep their texts inline.
    private static let texts = """
        CREATE TABLE text (hash BLOB PRIMARY KEY, bytes BLOB NOT NULL);
        -- Which step needs it, and for what: `deed`, `undo`, or `block`, to put a block back that a save has lost.
        CREATE TABLE textUse (
            step TEXT NOT NULL, use TEXT NOT NULL, hash BLOB NOT NULL,
            PRIMARY KEY (step, use, hash)) WITHOUT ROWID;
        CREATE INDEX textUseByHash ON textUse (hash);
        """

    /// `docs/design/stale-buffers.md`. Blocks guarded before this step count as not held; the last write tells which
    /// version the note had.
    private static let keptBlocks = """
        -- The last version of a note that was seen or written; `lines` in eights: hash, first, born, gone.
        CREATE TABLE noteState (
            note BLOB PRIMARY KEY, version INTEGER NOT NULL, hash BLOB, lines BLOB) WITHOUT ROWID;
        -- The blocks that the agent wrote into it, by the versions that brought, first held and lost them.
        CREATE TABLE keptBlock (
            note BLOB NOT NULL, step TEXT NOT NULL, token TEXT NOT NULL, request TEXT NOT NULL,
            first INTEGER NOT NULL, born INTEGER NOT NULL, holder INTEGER, gone INTEGER, fate TEXT NOT NULL, lines BLOB NOT NULL,
            changed INTEGER NOT NULL,
            PRIMARY KEY (note, step)) WITHOUT ROWID;
        CREATE INDEX keptBlockByStep ON keptBlock (step);
        INSERT INTO noteState
            SELECT note, 1,
                (SELECT result FROM noteWrite WHERE noteWrite.note = guard.note AND done = 1 ORDER BY id DESC LIMIT 1),
                NULL
            FROM guard GROUP BY note;
        INSERT INTO keptBlock
            SELECT note, step, token, request, 1, 1, NULL, NULL, 'there', x'', written FROM guard;
        DROP TABLE guard;
        """

    /// `docs/design/shape.md`. `until` is NULL if the question has no time limit, `note` if it is in no note.
    private static let questions = """
        CREATE TABLE question (
            step TEXT PRIMARY KEY, job TEXT NOT NULL, text TEXT NOT NULL, asked INTEGER NOT NULL, until INTEGER,
            note BLOB, token TEXT, answer TEXT) WITHOUT ROWID;
        CREATE INDEX questionByJob ON question (job);
        CREATE INDEX questionByNote ON question (note) WHERE note IS NOT NULL AND answer IS NULL;
        """

    private static let first = """
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

        CREATE TABLE place (name TEXT PRIMARY KEY, root BLOB NOT NULL, firstSeen INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE rule (name TEXT PRIMARY KEY, digest TEXT NOT NULL, firstSeen INTEGER NOT NULL) WITHOUT ROWID;

        -- One row for each name ever seen. `hash` is the content that rules last judged.
        CREATE TABLE file (
            place TEXT NOT NULL, path BLOB NOT NULL,
            device INTEGER NOT NULL, inode INTEGER NOT NULL, size INTEGER NOT NULL,
            modified INTEGER NOT NULL, changed INTEGER NOT NULL,
            hash BLOB, present INTEGER NOT NULL, version INTEGER NOT NULL, seen INTEGER NOT NULL,
            PRIMARY KEY (place, path)) WITHOUT ROWID;
        CREATE INDEX fileByInode ON file (place, inode);

        -- The anchored blocks of a note that rules have seen, or that the agent wrote.
        CREATE TABLE block (
            place TEXT NOT NULL, path BLOB NOT NULL, token TEXT NOT NULL,
            PRIMARY KEY (place, path, token)) WITHOUT ROWID;

        CREATE TABLE job (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
            rule TEXT NOT NULL, digest TEXT NOT NULL, event TEXT NOT NULL,
            place TEXT NOT NULL, path BLOB NOT NULL, file TEXT NOT NULL, hash BLOB,
            lineage TEXT NOT NULL, depth INTEGER NOT NULL, arrived INTEGER NOT NULL,
            state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, nextAttempt INTEGER,
            vals TEXT NOT NULL, refused TEXT NOT NULL, problem TEXT,
            created INTEGER NOT NULL, updated INTEGER NOT NULL);
        CREATE INDEX jobByState ON job (state);
        CREATE INDEX jobByFile ON job (place, path);
        CREATE INDEX jobByLineage ON job (lineage, rule);

        CREATE TABLE step (
            job TEXT NOT NULL, number INTEGER NOT NULL, action TEXT NOT NULL, arguments TEXT NOT NULL,
            repeatSafe INTEGER NOT NULL, state TEXT NOT NULL, intent TEXT, receipt TEXT, finished INTEGER,
            PRIMARY KEY (job, number)) WITHOUT ROWID;

        -- A temporary file that the agent made and has not yet renamed into place.
        CREATE TABLE staged (
            path BLOB PRIMARY KEY, device INTEGER NOT NULL, inode INTEGER NOT NULL, job TEXT NOT NULL) WITHOUT ROWID;

        -- What the agent made, until the place that it lies in has judged it.
        CREATE TABLE product (
            path BLOB PRIMARY KEY, hash BLOB NOT NULL, lineage TEXT NOT NULL, depth INTEGER NOT NULL,
            job TEXT NOT NULL, made INTEGER NOT NULL) WITHOUT ROWID;

        -- In-place writes into notes: from `oldTail` a torn write is mended.
        CREATE TABLE noteWrite (
            id INTEGER PRIMARY KEY AUTOINCREMENT, note BLOB NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL,
            base BLOB NOT NULL, result BLOB NOT NULL, position INTEGER NOT NULL, oldTail BLOB NOT NULL, newTail BLOB NOT NULL,
            done INTEGER NOT NULL DEFAULT 0, begun INTEGER NOT NULL);
        CREATE INDEX noteWriteOpen ON noteWrite (note) WHERE done = 0;
        CREATE TABLE noteBlock (
            step TEXT PRIMARY KEY, noteWrite INTEGER NOT NULL, note BLOB NOT NULL, token TEXT NOT NULL) WITHOUT ROWID;
        CREATE INDEX noteBlockByWrite ON noteBlock (noteWrite);

        -- Blocks written since a note was last saved by somebody else: a save that lost them gets them back.
        CREATE TABLE guard (
            note BLOB NOT NULL, step TEXT NOT NULL, token TEXT NOT NULL, request TEXT NOT NULL,
            editorOpen INTEGER NOT NULL, written INTEGER NOT NULL,
            PRIMARY KEY (note, step)) WITHOUT ROWID;

        CREATE TABLE quarantine (
            id TEXT PRIMARY KEY, job TEXT NOT NULL, place TEXT NOT NULL, path BLOB NOT NULL, root BLOB NOT NULL,
            stored BLOB NOT NULL, reason TEXT NOT NULL, state TEXT NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID;

        CREATE TABLE history (
            id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, kind TEXT NOT NULL, job TEXT,
            place TEXT, path BLOB, message TEXT NOT NULL);
        CREATE INDEX historyByTime ON history (time);
        CREATE INDEX historyByJob ON history (job);
        """
}
