import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import TestSupport
import Testing

/// One after the other: where SQLite puts temporary files is a setting of the whole process.
@Suite(
    "Migrating older ledgers", .serialized,
    .enabled(if: FileManager.default.isExecutableFile(atPath: python)))
struct UpgradingTests {
    private let folder: TemporaryFolder
    private var file: BytePath { folder.path.appending("ledger.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    @Test("The previous version is migrated, with its rows")
    func older() async throws {
        let old = QuarantineRecord(
            id: "q", job: "j", place: "inbox", path: "x", root: "/in", stored: "/q/x", reason: "bad")
        let ledger = try Ledger.open(directory: folder.path).ledger
        try await ledger.write { try $0.setQuarantine(old) }
        try ledger.close()
        try renameBack()
        try changeDatabase(file, "alter table quarantine drop column code")
        try changeDatabase(file, "delete from grdb_migrations where identifier like '2 %'")
        let (opened, opening) = try Ledger.open(directory: folder.path)
        #expect(opening == .existing)
        #expect(try await opened.read { try $0.quarantine(in: [.moving]) } == [old])
        let new = QuarantineRecord(
            id: "r", job: "j", place: "inbox", path: "y", root: "/in", stored: "/q/y", reason: "bad", code: "encrypted")
        try await opened.write { try $0.setQuarantine(new) }
        #expect(try await opened.read { try $0.quarantine(in: [.moving]) } == [old, new])
    }

    @Test("A command reads one of the version before from an unlinked copy in the same folder")
    func copyForReading() async throws {
        let ledger = try Ledger.open(directory: folder.path).ledger
        // More than SQLite keeps in memory.
        let text = String(repeating: "v", count: 8 << 20)
        try await ledger.write { try $0.setMeta("long", text) }
        try ledger.close()
        try renameBack()
        let reader = try #require(try Ledger.openForReading(directory: folder.path))
        #expect(try await reader.read { try $0.meta("long") } == text)
        let open = BytePath("/proc/self/fd")
        let unlinked = try listDirectory(open).map { open.appending(name: $0.name).text }.filter { descriptor in
            let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: descriptor)) ?? ""
            return target.hasPrefix(folder.path.text) && target.hasSuffix(" (deleted)")
        }
        var status = stat()
        let isThere = unlinked.first.map { stat($0, &status) == 0 } ?? false
        #expect(unlinked.count == 1 && isThere)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test("One without the folders of places is migrated, with its places and files")
    func olderPlaces() async throws {
        let ledger = try Ledger.open(directory: folder.path).ledger
        try await ledger.write { transaction in
            #expect(try transaction.registerPlace("inbox", root: "/in"))
            try transaction.setFile(Sample.file("a"))
        }
        try ledger.close()
        try renameBack()
        for column in ["place drop column identity", "place drop column other", "file drop column kept"] {
            try changeDatabase(file, "alter table \(column)")
        }
        try changeDatabase(file, "delete from grdb_migrations where identifier like '3 %'")
        let reader = try #require(try Ledger.openForReading(directory: folder.path))
        #expect(try await reader.read { try $0.file("inbox", "a") } == Sample.file("a"))
        #expect(try await reader.read { try $0.place("inbox")?.other } == nil)
        let opened = try Ledger.open(directory: folder.path).ledger
        let identity = FolderIdentity(device: .max, inode: 2, fileSystem: 3, isMount: true)
        try await opened.write { try $0.setPlaceAway("inbox", instead: identity) }
        #expect(try await opened.read { try $0.place("inbox")?.other } == identity)
        #expect(try await opened.read { try $0.file("inbox", "a")?.isKept } == true)
    }

    @Test("One that guarded blocks against saves is migrated, with its blocks and the versions that held them")
    func olderGuards() async throws {
        let write = Sample.write("/n.md", step: "j.0", token: "a")
        let ledger = try Ledger.open(directory: folder.path).ledger
        try await ledger.write { try $0.endNoteWrite(try $0.beginNoteWrite(write)) }
        try ledger.close()
        try renameBack()
        for statement in [
            "drop table keptBlock", "drop table noteState",
            "create table guard (note BLOB NOT NULL, step TEXT NOT NULL, token TEXT NOT NULL, request TEXT NOT NULL, "
                + "editorOpen INTEGER NOT NULL, written INTEGER NOT NULL, PRIMARY KEY (note, step)) WITHOUT ROWID",
            "insert into guard values (cast('/n.md' as blob), 'j.0', 'a', '{}', 1, 7)",
            "insert into guard values (cast('/m.md' as blob), 'k.0', 'b', '{}', 0, 8)",
            "delete from grdb_migrations where identifier like '4 what%'",
        ] {
            try changeDatabase(file, statement)
        }
        let opened = try Ledger.open(directory: folder.path).ledger
        func block(_ note: BytePath, _ step: String, _ token: String) -> KeptBlockRecord {
            KeptBlockRecord(
                note: note, step: step, token: token, request: "{}", first: 1, since: 1, fate: KeptBlockRecord.there)
        }
        #expect(try await opened.read { try $0.keptBlocks("/n.md") } == [block("/n.md", "j.0", "a")])
        #expect(try await opened.read { try $0.keptBlocks("/m.md") } == [block("/m.md", "k.0", "b")])
        let state = NoteStateRecord(note: "/n.md", version: 1, hash: write.result, lines: nil)
        #expect(try await opened.read { try $0.noteState("/n.md") } == state)
        #expect(try await opened.read { try $0.lastNoteHash("/m.md") } == nil)
    }

    @Test(
        "One without birth times is migrated, with its files, for which matched rules are unknown"
    )
    func olderFiles() async throws {
        let ledger = try Ledger.open(directory: folder.path).ledger
        try await ledger.write { try $0.setFile(Sample.file("a")) }
        try ledger.close()
        try renameBack()
        for column in ["born", "era", "met"] { try changeDatabase(file, "alter table file drop column \(column)") }
        try changeDatabase(file, "drop table era")
        try changeDatabase(file, "delete from grdb_migrations where identifier like '6 %'")
        let reader = try #require(try Ledger.openForReading(directory: folder.path))
        #expect(try await reader.read { try $0.file("inbox", "a") } == Sample.file("a"))
        let opened = try Ledger.open(directory: folder.path).ledger
        var known = Sample.file("a")
        #expect(try await opened.read { try $0.file("inbox", "a") } == known)
        known.birthTime = 7
        known.matched = MatchedRules(ruleSet: "now", rules: ["a rule", "another"])
        let matched = known
        try await opened.write { transaction in
            try transaction.setFile(matched)
            try transaction.registerRuleSet("now", rules: ["1 a rule", "2 another", "3 not matched"])
        }
        #expect(try await opened.read { try $0.file("inbox", "a") } == matched)
        #expect(try await opened.read { try $0.rules(inSet: "now") } == ["1 a rule", "2 another", "3 not matched"])
        #expect(try await opened.read { try $0.rules(inSet: "before") } == [])
    }

    @Test("One with a file under two names is migrated with both, and accepts no third")
    func olderDuplicates() async throws {
        let ledger = try Ledger.open(directory: folder.path).ledger
        try await ledger.write { try $0.setFile(Sample.file("a")) }
        try await ledger.write { try $0.setFile(Sample.file("b")) }
        try ledger.close()
        try renameBack()
        for statement in [
            "drop index fileOnce", "alter table file drop column links",
            "delete from grdb_migrations where identifier like '28 %'",
        ] {
            try changeDatabase(file, statement)
        }
        let reader = try #require(try Ledger.openForReading(directory: folder.path))
        #expect(try await reader.read { try $0.file("inbox", "b") } == Sample.file("b"))
        let opened = try Ledger.open(directory: folder.path).ledger
        for path: BytePath in ["a", "b"] {
            #expect(try await opened.read { try $0.file("inbox", path) } == Sample.file(path))
        }
        // As when one is judged again, and then the other.
        @Sendable func judged(_ path: BytePath) -> FileRecord {
            var file = Sample.file(path)
            file.links = 1
            return file
        }
        try await opened.write { try $0.setFile(judged("a")) }
        await #expect(throws: KnownUnderOtherName.self) { try await opened.write { try $0.setFile(judged("b")) } }
        await #expect(throws: KnownUnderOtherName.self) { try await opened.write { try $0.setFile(judged("c")) } }
    }

    @Test("One whose intents contain their texts is migrated: they still do, and new ones reference theirs")
    func olderIntents() async throws {
        let ledger = try Ledger.open(directory: folder.path).ledger
        let old = "{\"text\":\"\(String(repeating: "all of it ", count: 100))\"}"
        let steps = Sample.steps("j")
        try await ledger.write { transaction in
            _ = try transaction.addJob(Sample.job("j"), steps: steps)
            try transaction.setIntent(steps[0], old)
        }
        try ledger.close()
        try renameBack()
        for statement in [
            "drop table text", "drop table textUse", "delete from grdb_migrations where identifier like '7 %'",
        ] {
            try changeDatabase(file, statement)
        }
        let opened = try Ledger.open(directory: folder.path).ledger
        #expect(try await opened.read { try $0.steps(of: "j")[0].intent } == old)
        #expect(try await opened.read { try $0.texts(ofJob: "j") } == [:])
        let text = KeptText(hash: Sample.hash("new"), text: "new", use: .undo)
        try await opened.write { transaction in
            try transaction.setReceipt(steps[0], "{}")
            try transaction.setIntent(steps[1], "{}", texts: [text])
        }
        #expect(try await opened.read { try $0.texts(ofJob: "j") } == [text.hash: "new"])
    }

    @Test("One with other indexes is migrated, and queries that use the new ones succeed")
    func olderIndexes() async throws {
        let note: BytePath = "/n.md"
        let ledger = try Ledger.open(directory: folder.path).ledger
        let (there, begun) = (Sample.write(note, step: "j.0", token: "a"), Sample.write(note, step: "k.0", token: "b"))
        @Sendable func block(_ step: String, _ token: String) -> KeptBlockRecord {
            KeptBlockRecord(note: note, step: step, token: token, request: "{}")
        }
        let open = try await ledger.write { transaction in
            _ = try transaction.addJob(Sample.job("1", rule: "R", lineage: "L"), steps: [])
            try transaction.endNoteWrite(try transaction.beginNoteWrite(there))
            try transaction.beginKeptBlock(block("j.0", "a"))
            try transaction.noteHolds(note, there.result, there.blocks)
            try transaction.beginKeptBlock(block("k.0", "b"))
            return try transaction.beginNoteWrite(begun)
        }
        try ledger.close()
        try renameBack()
        for statement in [
            "drop index jobByLineage", "drop index keptBlockMissing", "create index historyByJob on history (job)",
            "create index jobByLineage on job (lineage, rule)", "create index keptBlockByStep on keptBlock (step)",
            "delete from grdb_migrations where identifier like '8 %'",
        ] {
            try changeDatabase(file, statement)
        }
        let opened = try Ledger.open(directory: folder.path).ledger
        #expect(try await opened.read { try $0.hasRun(rule: "R", from: "L") })
        #expect(try await opened.read { try $0.missingBlocks(note).map(\.step) } == ["k.0"])
        try await opened.write { try $0.voidNoteWrite(open) }
        #expect(try await opened.read { try $0.missingBlocks(note) } == [])
        #expect(try await opened.read { try $0.keptBlocks(note).map(\.step) } == ["j.0"])
    }

    @Test("One without an outbox is migrated, with its jobs and texts")
    func olderOutbox() async throws {
        let step = StepRecord(job: "1", number: 0, action: "a", arguments: "{}", repeatSafe: false)
        let text = KeptText(hash: Sample.hash("long"), text: "long", use: .undo)
        let ledger = try Ledger.open(directory: folder.path).ledger
        try await ledger.write { transaction in
            _ = try transaction.addJob(Sample.job("1"), steps: [step])
            try transaction.setIntent(step, "{}", texts: [text])
        }
        try ledger.close()
        try renameBack()
        try changeDatabase(file, "drop table outbox")
        try changeDatabase(file, "delete from grdb_migrations where identifier like '9 %' or identifier like '10 %'")
        let opened = try Ledger.open(directory: folder.path).ledger
        let event = DeliveryRecord(
            id: "1.0", job: "1", target: "hub", path: "", event: "e", key: "k", hash: Sample.hash("long"), size: 4)
        #expect(try await opened.write { try $0.addDelivery(event, body: "long") })
        #expect(try await opened.write { try $0.beginDelivery("1.0")?.body } == "long")
        #expect(try await opened.read { try $0.texts(ofJob: "1") } == [Sample.hash("long"): "long"])
    }

    @Test("One that marked files removed with folders is migrated, and they can come back")
    func olderFolders() async throws {
        let ledger = try Ledger.open(directory: folder.path).ledger
        let digest = Sample.hash("folder")
        try await ledger.write { transaction in
            _ = try transaction.addJob(Sample.job("1"), steps: [])
            try transaction.setFile(Sample.file("x/a/1", inode: 4))
            try transaction.setFolder(FolderRecord(place: "inbox", path: "x/a", device: 7, inode: 2, digest: digest))
            try transaction.setFolder(FolderRecord(place: "inbox", path: "x/a/b", device: 7, inode: 3))
        }
        try ledger.close()
        try renameBack()
        for statement in [
            "drop index jobByNow", "alter table job drop column nowPlace", "alter table job drop column nowPath",
            "alter table folder drop column lineageOf", "drop table takenFile", "drop table takenFolder",
            "alter table file add column went TEXT", "alter table folder add column went TEXT",
            "create index fileByWent on file (went) where went is not null",
            "create index folderByWent on folder (went) where went is not null",
            "update file set went = '1', present = 0", "update folder set went = '1', present = 0",
            "delete from grdb_migrations where identifier like '18 %' or identifier like '19 %' or identifier like '20 %'",
        ] {
            try changeDatabase(file, statement)
        }
        let opened = try Ledger.open(directory: folder.path).ledger
        #expect(try await opened.read { try $0.job("1")?.whereabouts.path } == "a.txt")
        let before = try await opened.write { try $0.returnFolder("inbox", to: "c", by: "1") }
        #expect(before?.digest == digest && before?.path == "x/a")
        #expect(try await opened.read { try $0.folders("inbox") } == ["c", "c/b"])
        #expect(try await opened.read { try $0.file("inbox", "c/1")?.hash } == Sample.hash("abc"))
    }

    @Test("One whose steps are in the order of job ids keeps them all")
    func olderSteps() async throws {
        let ledger = try Ledger.open(directory: folder.path).ledger
        let steps = ["b", "a"].flatMap { job in
            (0..<2).map { StepRecord(job: job, number: $0, action: "a\($0)", arguments: "{}", repeatSafe: $0 == 0) }
        }
        try await ledger.write { transaction in
            for job in ["b", "a"] {
                _ = try transaction.addJob(Sample.job(job), steps: steps.filter { $0.job == job })
            }
            try transaction.setIntent(steps[0], "intent")
            try transaction.setReceipt(steps[0], "receipt")
            try transaction.setIntent(steps[1], "another")
        }
        let before = try await ledger.read { transaction in try ["a", "b"].map { try transaction.steps(of: $0) } }
        try ledger.close()
        try renameBack()
        for statement in [
            """
            create table former (job text not null, number integer not null, action text not null, arguments text not null,
            repeatSafe integer not null, state text not null, intent text, receipt text, finished integer, item text,
            primary key (job, number)) without rowid
            """,
            """
            insert into former select job, number, action, arguments, repeatSafe, state, intent, receipt, finished, item
            from step
            """,
            "drop table step", "alter table former rename to step",
            "delete from grdb_migrations where identifier like '21 %'",
        ] {
            try changeDatabase(file, statement)
        }
        let opened = try Ledger.open(directory: folder.path).ledger
        let after = try await opened.read { transaction in try ["a", "b"].map { try transaction.steps(of: $0) } }
        #expect(after == before)
        try await opened.write { try $0.setReceipt(steps[1], "done") }
        #expect(try await opened.read { try $0.steps(of: "b").map(\.receipt) } == ["receipt", "done"])
    }

    @Test(
        "The previous version, and one whose migration was killed, is migrated with its rows",
        arguments: [false, true])
    func olderNames(isKilled: Bool) async throws {
        let ledger = try Ledger.open(directory: folder.path).ledger
        var file = Sample.file("a")
        (file.birthTime, file.matched) = (7, MatchedRules(ruleSet: "set", rules: ["a rule"]))
        let known = FolderRecord(
            place: "inbox", path: "x", device: 7, inode: 2, digest: Sample.hash("list"),
            matched: MatchedRules(ruleSet: "set", rules: []),
            lineage: .init(firstJob: "first", depth: 2, of: Sample.hash("list")))
        let block = KeptBlockRecord(note: "/n.md", step: "j.0", token: "t", request: "{}", first: 1, since: 4)
        let product = ProductRecord(path: "/p", hash: Sample.hash("p"), firstJob: "first", depth: 1, job: "1")
        let (staged, before) = (FileIdentity(device: 1, inode: 2, born: 3), file)
        try await ledger.write { transaction in
            _ = try transaction.addJob(Sample.job("1", lineage: "first"), steps: [])
            try transaction.addProduct(product)
            try transaction.registerRuleSet("set", rules: ["1 a rule"])
            try transaction.setFile(before)
            try transaction.setFolder(known)
            try transaction.setKeptBlock(block)
            try transaction.setStaged("/s", staged, job: "1.0")
        }
        try ledger.close()
        try renameBack()
        if isKilled {
            let half = Self.renamed.prefix(Self.renamed.count / 2).map {
                "alter table \($0) rename column \($1) to \($2)"
            }
            let result = try runProgram(
                [
                    "/usr/bin/python3", "-c",
                    """
                    import os, signal, sqlite3, sys
                    c = sqlite3.connect(sys.argv[1], isolation_level=None)
                    for statement in ["pragma cache_size = 1", "begin immediate"] + sys.argv[2:]: c.execute(statement)
                    os.kill(os.getpid(), signal.SIGKILL)
                    """, self.file.text,
                ] + half)
            #expect(result.status == SIGKILL)
        }
        let reader = try #require(try Ledger.openForReading(directory: folder.path))
        #expect(try await reader.read { try $0.job("1")?.firstJob } == "first", "a command reads it as it will be")
        let opened = try Ledger.open(directory: folder.path).ledger
        #expect(try await opened.read { try $0.job("1")?.firstJob } == "first")
        #expect(try await opened.read { try $0.product("/p") } == product)
        #expect(try await opened.read { try $0.rules(inSet: "set") } == ["1 a rule"])
        #expect(try await opened.read { try $0.file("inbox", "a") } == before)
        #expect(try await opened.read { try $0.folder("inbox", "x") } == known)
        #expect(try await opened.read { try $0.keptBlocks("/n.md") } == [block])
        #expect(try await opened.read { try $0.staged(by: "1.0").map(\.born) } == [3])
    }

    /// Renamed columns: table, old name, new name.
    private static let renamed = [
        ("job", "lineage", "firstJob"), ("product", "lineage", "firstJob"), ("folder", "lineage", "firstJob"),
        ("folder", "lineageOf", "ownDigest"), ("file", "era", "ruleSet"), ("file", "met", "matched"),
        ("file", "born", "birthTime"), ("folder", "era", "ruleSet"), ("folder", "met", "matched"),
        ("takenFile", "era", "ruleSet"), ("takenFile", "met", "matched"), ("takenFile", "born", "birthTime"),
        ("takenFolder", "era", "ruleSet"), ("takenFolder", "met", "matched"), ("staged", "born", "birthTime"),
        ("keptBlock", "born", "since"),
    ]

    /// Restores the columns' old names, to create older ledgers.
    private func renameBack() throws {
        let statements = Self.renamed.map { "alter table \($0) rename column \($2) to \($1)" }
        try changeDatabase(
            file,
            (statements + [
                "alter table ruleSet rename to era", "delete from grdb_migrations where identifier like '31 %'",
            ]).joined(separator: ";"))
    }
}
