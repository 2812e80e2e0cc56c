import Foundation
import Ledger
import Platform
import Testing

@Suite("Jobs and steps in the ledger")
struct JobRowTests {
    private let ledger: Ledger
    /// After everything that these tests write.
    private let future = Timestamp.now().adding(seconds: 3600)

    init() throws { ledger = try Ledger.inMemory() }

    private func add(_ jobs: JobRecord...) async throws {
        try await ledger.write { transaction in
            for job in jobs {
                #expect(try transaction.addJob(job, steps: Sample.steps(job.id)))
                var stored = job
                stored.sequence = 0
                try transaction.update(stored)
            }
        }
    }

    private func job(_ id: String, _ state: JobRecord.State, lineage: String? = nil) -> JobRecord {
        var job = Sample.job(id, lineage: lineage)
        job.state = state
        return job
    }

    @Test("A job is added once: an existing one is unchanged")
    func once() async throws {
        try await add(Sample.job("j"))
        try await ledger.write { transaction in
            var changed = try #require(try transaction.job("j"))
            changed.state = .parked
            changed.problem = "why"
            try transaction.update(changed)
            #expect(try !transaction.addJob(Sample.job("j", rule: "other"), steps: Sample.steps("j", 5)))
        }
        let found = try #require(try await ledger.read { try $0.job("j") })
        #expect(found.rule == "R")
        #expect(found.state == .parked)
        #expect(found.problem == "why")
        #expect(try await ledger.read { try $0.steps(of: "j").count } == 2)
    }

    @Test("A job is as it was added until it or its steps change")
    func asAdded() async throws {
        let changes: [String: @Sendable (LedgerTransaction, JobRecord) throws -> Void] = [
            "values": { try $0.update($1) },
            "file": { transaction, job in
                var job = job
                job.file = "{\"moved\":true}"
                try transaction.setFile(of: job)
            },
            "begun": { try $0.setIntent(Sample.steps($1.id)[1], "{}") },
            "done": { try $0.setReceipt(Sample.steps($1.id)[0], "{}") },
        ]
        for (name, change) in changes {
            var job = Sample.job(name)
            job.updated = .now()
            let added = job
            try await ledger.write { transaction in
                #expect(try transaction.addJob(added, steps: Sample.steps(name), at: added.updated))
                #expect(try transaction.isAsAdded(added))
                #expect(try !transaction.isAsAdded(Sample.job("other")))
                try change(transaction, added)
                #expect(try !transaction.isAsAdded(added), "\(name)")
            }
        }
    }

    @Test("A job is read back as written")
    func roundTrip() async throws {
        var job = Sample.job("j", path: BytePath(bytes: [0xFF, 0x27, 0x0A]), lineage: "root", depth: 3)
        job.hash = nil
        job.values = "{\"a\":1}"
        try await add(job)
        job.state = .waiting
        job.attempts = 4
        job.nextAttempt = Timestamp(nanoseconds: 1_795_253_400_123_456_789)
        job.problem = "disk full"
        job.file = "{\"moved\":true}"
        let written = job
        try await ledger.write { transaction in
            try transaction.update(written)
            try transaction.setFile(of: written)
        }
        var found = try #require(try await ledger.read { try $0.job("j") })
        #expect(found.sequence > 0)
        found.sequence = 0
        found.updated = job.updated
        #expect(found == job)
    }

    @Test("A step goes from pending to intended to done; voiding its intent makes it pending again")
    func steps() async throws {
        try await add(Sample.job("j"))
        func steps() async throws -> [StepRecord] { try await ledger.read { try $0.steps(of: "j") } }
        var found = try await steps()
        #expect(found.map(\.id) == ["j.0", "j.1"])
        #expect(found.map(\.state) == [.pending, .pending])
        #expect(found.map(\.repeatSafe) == [false, true])
        let first = found[0]
        try await ledger.write { try $0.setIntent(first, "{\"do\":1}") }
        found = try await steps()
        #expect(found[0].state == .intended && found[0].intent == "{\"do\":1}")
        try await ledger.write { try $0.clearIntent(first) }
        found = try await steps()
        #expect(found[0].state == .pending && found[0].intent == nil)
        try await ledger.write { transaction in
            try transaction.setIntent(first, "{}")
            try transaction.setReceipt(first, "{\"did\":1}")
        }
        found = try await steps()
        #expect(found[0].state == .done && found[0].receipt == "{\"did\":1}" && found[0].intent == "{}")
        #expect(found[1].state == .pending)
        try await ledger.write { try $0.setReceipt(first, "{}", state: .undone) }
        #expect(try await steps()[0].state == .undone)
    }

    @Test("Jobs are found by state, in planning order, and counted")
    func states() async throws {
        try await add(job("c", .ready), job("a", .parked), job("b", .ready), job("d", .done), job("e", .waiting))
        let found = try await ledger.read { try $0.jobs(in: [.ready, .waiting]).map(\.id) }
        #expect(found == ["c", "b", "e"])
        #expect(try await ledger.read { try $0.jobs(in: [.ready, .waiting], limit: 2).map(\.id) } == ["c", "b"])
        #expect(try await ledger.read { try $0.jobCounts() } == ["ready": 2, "parked": 1, "done": 1, "waiting": 1])
    }

    @Test("The jobs of a file are found by the exact bytes of its name, newest first")
    func ofFile() async throws {
        try await add(
            Sample.job("1", path: "a"), Sample.job("2", path: "a"), Sample.job("3", path: "A"),
            Sample.job("4", path: BytePath(bytes: [0x61, 0xFF])))
        #expect(try await ledger.read { try $0.jobs(of: "inbox", "a").map(\.id) } == ["2", "1"])
        #expect(try await ledger.read { try $0.jobs(of: "other", "a") } == [])
    }

    @Test("An id may be shortened as long as it is unique")
    func prefixes() async throws {
        try await add(Sample.job("ab12"), Sample.job("ab34"), Sample.job("ac"), Sample.job("b"))
        func found(_ prefix: String) async throws -> [String] {
            try await ledger.read { try $0.jobs(idPrefix: prefix).map(\.id) }
        }
        #expect(try await found("ab") == ["ab12", "ab34"])
        #expect(try await found("ab1") == ["ab12"])
        #expect(try await found("ab12") == ["ab12"])
        #expect(try await found("") == ["ab12", "ab34", "ac", "b"])
        #expect(try await found("c") == [])
        #expect(try await found("%") == [])
        #expect(try await found("a_") == [])
        #expect(try await found("' OR 1=1 --") == [])
    }

    @Test("A rule that ran in a lineage is remembered")
    func lineage() async throws {
        try await add(Sample.job("1", rule: "R", lineage: "L"))
        #expect(try await ledger.read { try $0.hasRun(rule: "R", from: "L") })
        #expect(try await ledger.read { try !$0.hasRun(rule: "S", from: "L") })
        #expect(try await ledger.read { try !$0.hasRun(rule: "R", from: "M") })
        // A job without an ancestor starts its own lineage.
        try await add(Sample.job("2", rule: "R", lineage: "2"))
        #expect(try await ledger.read { try $0.hasRun(rule: "R", from: "2") })
        #expect(try await ledger.read { try !$0.hasRun(rule: "S", from: "2") })
        #expect(try await ledger.read { try !$0.hasRun(rule: "R", from: "1") }, "a job's id is no lineage by itself")
    }

    @Test("A rule has not run on files of the same generation, nor if its job came to nothing")
    func siblings() async throws {
        try await add(Sample.job("1", rule: "R", lineage: "L", depth: 2))
        #expect(try await ledger.read { try !$0.hasRun(rule: "R", from: "L", besides: 2) })
        #expect(try await ledger.read { try $0.hasRun(rule: "R", from: "L", besides: 3) })
        try await add(job("2", .superseded))
        #expect(try await ledger.read { try !$0.hasRun(rule: "R", from: "2", besides: 1) })
    }

    @Test("A rule has run on a file's origin, not on the file under its former names")
    func ancestors() async throws {
        try await add(Sample.job("L"), Sample.job("1", rule: "S", lineage: "L", depth: 2), job("2", .superseded))
        #expect(try await ledger.read { try $0.hasRun(rule: "R", from: "L", before: 1) })
        #expect(try await ledger.read { try !$0.hasRun(rule: "R", from: "L", before: 0) })
        #expect(try await ledger.read { try $0.hasRun(rule: "S", from: "L", before: 3) })
        #expect(try await ledger.read { try !$0.hasRun(rule: "S", from: "L", before: 2) })
        #expect(try await ledger.read { try !$0.hasRun(rule: "R", from: "2", before: 9) })
    }

    @Test("A job stores the depth at which its file was made")
    func origin() async throws {
        var made = Sample.job("1", lineage: "L", depth: 3)
        made.origin = 2
        try await add(made)
        #expect(try await ledger.read { try $0.job("1")?.origin } == 2)
    }

    @Test("Of a schedule's jobs for one product, pruning keeps the last")
    func pruneScheduled() async throws {
        try await add(job("L", .done))
        for number in 1...5 { try await add(job("\(number)", .done, lineage: "L")) }
        try await add(job("6", .superseded, lineage: "L"))
        try await ledger.write {
            try $0.addProduct(ProductRecord(path: "/p", hash: Sample.hash("p"), firstJob: "L", depth: 1, job: "L"))
        }
        let before = future
        #expect(try await ledger.prune(before: before) == 4)
        #expect(try await ledger.read { try $0.jobs(in: JobRecord.State.allCases).map(\.id) } == ["L", "5", "6"])
    }

    @Test("A job is found by its file's current name, and keeps the name that was judged")
    func whereabouts() async throws {
        let (old, new) = (
            JobRecord.FileLocation(place: "inbox", path: "a.txt"),
            JobRecord.FileLocation(place: "out", path: "sub/b.txt")
        )
        try await add(Sample.job("1"), Sample.job("2"))
        let first = try await ledger.write { transaction in
            var first = try transaction.job("1")
            first?.moved = new
            first?.state = .asking
            if let first { try transaction.setFile(of: first) }
            if let first { try transaction.update(first) }
            return try transaction.job("1")
        }
        #expect(first?.whereabouts == new && first?.path == "a.txt")
        #expect(try await ledger.read { try $0.jobs(at: old).map(\.id) } == ["2"])
        #expect(try await ledger.read { try $0.jobs(at: new).map(\.id) } == ["1"])
        #expect(try await ledger.read { try $0.jobs(of: "inbox", "a.txt").map(\.id) } == ["2", "1"])
        #expect(try await ledger.read { try $0.askingJobs(about: "out", "sub/b.txt").map(\.id) } == ["1"])
        #expect(try await ledger.read { try $0.askingJobs(about: "inbox", "a.txt") } == [])
        let folder = JobRecord.FileLocation(place: "out", path: "sub")
        #expect(try await ledger.read { try $0.jobs(in: [.asking], within: folder).map(\.id) } == ["1"])
        // A step that does not know of the move does not revert it.
        try await ledger.write { transaction in
            var stale = Sample.job("1")
            stale.state = .ready
            try transaction.update(stale)
        }
        #expect(try await ledger.read { try $0.job("1")?.whereabouts } == new)
        try await ledger.write { transaction in
            var back = try transaction.job("1")
            back?.moved = old
            if let back { try transaction.setFile(of: back) }
        }
        #expect(try await ledger.read { try $0.jobs(at: old).map(\.id) } == ["2", "1"])
    }

    @Test("Pruning keeps open jobs, those waiting for a person, and those in quarantine")
    func prune() async throws {
        try await add(
            job("ready", .ready), job("waiting", .waiting), job("parked", .parked), job("held", .refused),
            job("refused", .refused), job("done", .done), job("superseded", .superseded), job("undone", .undone))
        try await ledger.write {
            try $0.note("done", "x", job: "done")
            var held = QuarantineRecord(
                id: "held", job: "held", place: "p", path: "a", root: "/p", stored: "/q/a", reason: "bad")
            held.state = .held
            try $0.setQuarantine(held)
        }
        #expect(try await ledger.prune(before: Timestamp(seconds: 1)) == 0)
        #expect(try await ledger.read { try $0.history(limit: 10) }.count == 1)
        let before = future
        #expect(try await ledger.prune(before: before) == 4)
        let left = try await ledger.read { try $0.jobs(in: JobRecord.State.allCases).map(\.id) }
        #expect(left == ["ready", "waiting", "parked", "held"])
        #expect(try await ledger.read { try $0.steps(of: "parked").count } == 2)
        #expect(try await ledger.read { try $0.steps(of: "done").count } == 0)
        #expect(try await ledger.read { try $0.history(limit: 10) } == [])
    }

    @Test("Pruning continues until everything prunable is gone, however much that is")
    func pruneMany() async throws {
        try await ledger.write { transaction in
            for number in 0..<1_101 {
                _ = try transaction.addJob(self.job("\(number)", .done), steps: Sample.steps("\(number)", 2))
                for _ in 0..<5 { try transaction.note("done", "x", job: "\(number)") }
            }
        }
        try await add(job("open", .parked))
        let before = future
        #expect(try await ledger.prune(before: before) == 1_101)
        #expect(try await ledger.read { try $0.jobs(in: JobRecord.State.allCases).map(\.id) } == ["open"])
        #expect(try await ledger.read { try $0.steps(of: "1100").count + $0.history(limit: 10).count } == 0)
    }

    @Test("Pruning a job removes its steps' staged files and notes, except what others may still need")
    func pruneStaged() async throws {
        try await add(job("over", .superseded), job("waits", .parked))
        let owners = ["over", "over.0", "over.0 back", "forgotten.1", "waits.0", "exchange /over.md"]
        try await ledger.write { transaction in
            for (number, owner) in owners.enumerated() {
                let file = FileIdentity(device: 1, inode: UInt64(number), born: nil)
                try transaction.setStaged(BytePath("/p/.steward-\(number)"), file, job: owner)
            }
            for step in ["over.0", "waits.0"] { try transaction.setEffectNote("noted", step: step) }
        }
        let before = future
        #expect(try await ledger.prune(before: before) == 1)
        #expect(try await ledger.read { try $0.staged().map(\.job).sorted() } == ["exchange /over.md", "waits.0"])
        #expect(try await ledger.read { try $0.effectNote(step: "over.0") } == nil)
        #expect(try await ledger.read { try $0.effectNote(step: "waits.0") } == "noted")
    }

    @Test("Pruning keeps a name's version count as long as one of its jobs has it in its id")
    func pruneVersions() async throws {
        try await add(job("waits", .parked))
        let (place, path) = (Sample.job("x").place, Sample.job("x").path)
        let print = Fingerprint(device: 1, inode: 2, size: 3, modified: 4, changed: 5)
        try await ledger.write {
            try $0.setFile(FileRecord(place: place, path: path, fingerprint: print, hash: nil, version: 7))
            try $0.setFile(FileRecord(place: place, path: "other", fingerprint: print, hash: nil))
            try $0.setGone(place, path)
            try $0.setGone(place, "other")
        }
        let before = future
        _ = try await ledger.prune(before: before)
        #expect(try await ledger.read { try $0.file(place, path)?.version } == 8)
        #expect(try await ledger.read { try $0.file(place, "other") } == nil)
    }

    @Test("Pruning keeps the proof that a rule ran in a lineage still in progress")
    func pruneLineage() async throws {
        try await add(
            job("1", .done, lineage: "open"), job("2", .parked, lineage: "open"), job("3", .done, lineage: "unjudged"),
            job("4", .done, lineage: "over"))
        let before = future
        try await ledger.write {
            try $0.addProduct(
                ProductRecord(path: "/p", hash: Sample.hash("p"), firstJob: "unjudged", depth: 1, job: "3"))
        }
        #expect(try await ledger.prune(before: before) == 1)
        #expect(try await ledger.read { try $0.job("4") } == nil)
        #expect(try await ledger.read { try $0.jobs(in: JobRecord.State.allCases).map(\.id) } == ["1", "2", "3"])
    }
}
