import Foundation
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Schedules and products of rules")
struct TimeLineageTests {
    private let folder: TemporaryFolder
    private let clock: MovedClock

    init() throws {
        folder = try TemporaryFolder()
        clock = MovedClock(try #require(DateFormat.date(.text("2026-11-23 12:00"), .gmt)))
    }

    /// A bench whose `here` copies a file beside itself, and whose `there` copies it into the other place.
    private func bench(_ rules: String) async throws -> TimeBench {
        let time = try await TimeBench(folder.path, clock, rules: rules)
        for name in ["here", "there"] {
            time.bench.script.perform(name) { intent, _ in
                let other = intent.file.parent.nameText == "inbox" ? "out" : "inbox"
                let to = name == "here" ? intent.file.parent : intent.file.parent.parent.appending(other)
                let names = (1..<100).lazy.map { to.appending(name: intent.file.name + Array("+\($0)".utf8)) }
                let placed = try Mover.create(try Descriptor(intent.file).readAll(), at: Array(names)) { _, _ in }
                return Receipt("copied", effects: [.created(placed.path, placed.fingerprint, placed.hash)])
            }
        }
        return time
    }

    private func names(_ place: String) throws -> [BytePath] {
        try listDirectory(folder.path.appending(place)).map { BytePath(bytes: $0.name) }.sorted()
    }

    /// As the agent does with all new files.
    private func see(_ time: TimeBench) async throws {
        for place in ["inbox", "out"] {
            for name in try names(place) { try await time.bench.process(name, in: place) }
        }
    }

    /// Lets days pass, judging the new files at the end of each.
    private func pass(_ days: Int, _ time: TimeBench) async throws {
        for _ in 0..<days {
            try await time.pass(day)
            try await see(time)
        }
    }

    private static let own = "- { rule: Daily, in: inbox, every: 1d, do: { probe: { name: here } } }"

    @Test("A rule does not run on copies it made in its own place")
    func ownPlace() async throws {
        let time = try await bench(Self.own)
        try time.write("inbox/a")
        try await see(time)
        try await pass(4, time)
        #expect(time.ran == Array(repeating: "perform here a", count: 4))
        #expect(try names("inbox").count == 5)
        let history = try await time.bench.ledger.read { try $0.history(limit: 1_000) }
        #expect(!history.contains { $0.kind == "skipped" }, "that would be said each time")
    }

    @Test("Nor do two rules on products made from each other's", arguments: ["inbox", "out"])
    func circle(second: String) async throws {
        let name = second == "inbox" ? "here" : "there"
        let time = try await bench(
            """
            - { rule: One, in: inbox, every: 1d, do: { probe: { name: \(name), text: one } } }
            - { rule: Two, in: \(second), every: 1d, do: { probe: { name: \(name), text: two } } }
            """)
        try time.write("inbox/a")
        try await see(time)
        try await pass(5, time)
        let jobs = try await time.bench.jobs()
        #expect(jobs.allSatisfy { $0.depth <= 1 })
        let deep = jobs.filter { $0.depth == 1 }
        for job in deep {
            #expect(jobs.contains { $0.id == job.firstJob && $0.rule != job.rule && $0.path == "a" })
        }
        #expect(!deep.isEmpty, "a rule runs on what another has made")
    }

    @Test("The origin of such copies is forgotten when there is no schedule any more")
    func withoutTheSchedule() async throws {
        let time = try await bench(Self.own)
        try time.write("inbox/a")
        try await see(time)
        try await pass(2, time)
        func known() async throws -> Int {
            let paths = try names("inbox").map { folder.path.appending("inbox").appending($0) }
            return try await time.bench.ledger.read { transaction in
                try paths.filter { try transaction.product($0) != nil }.count
            }
        }
        #expect(try await known() == 2)
        try await time.keeper.rulesChanged()
        #expect(try await known() == 2)
        try await time.setRules("- { rule: Other, in: inbox, do: { probe: { name: other } } }")
        #expect(try await known() == 0)
    }

    @Test("A copy edited by a person is processed, and a rename does not make it a different file")
    func persons() async throws {
        let time = try await bench(Self.own)
        try time.write("inbox/a")
        try await see(time)
        try await pass(2, time)
        #expect(try names("inbox") == ["a", "a+1", "a+2"])
        try Durable.remove(time.bench.path("inbox/a"))
        try time.write("inbox/a+1", "by hand")
        #expect(try Durable.renameNew(time.bench.path("inbox/a+2"), to: time.bench.path("inbox/z")))
        for name in ["a", "a+1", "z", "a+2"] as [BytePath] { try await time.bench.process(name) }
        time.bench.script.forget()
        try await pass(1, time)
        #expect(time.ran == ["perform here a+1"])
    }

    /// - Parameter place: where the copy is created: in its own place, where its birth time is unknown, or in another.
    @Test(
        "An unread copy remains a copy when it is renamed or touched", arguments: ["inbox", "out"])
    func renamedAndTouched(place: String) async throws {
        let name = place == "inbox" ? "here" : "there"
        let time = try await bench("- { rule: Daily, in: [inbox, out], every: 1d, do: { probe: { name: \(name) } } }")
        let (old, new) = (time.bench.path(BytePath("\(place)/a+1")), time.bench.path(BytePath("\(place)/z")))
        func known(_ name: BytePath) async throws -> FileRecord? {
            try await time.bench.ledger.read { try $0.file(place, name) }
        }
        try time.write("inbox/a")
        try await see(time)
        try await pass(1, time)
        let before = try #require(try await known("a+1"))
        #expect((before.birthTime == nil) == (place == "inbox"))
        clock.advance(minute)
        #expect(try Durable.renameNew(old, to: new))
        try time.setModified(BytePath("\(place)/z"), clock.now)
        for name in ["z", "a+1"] as [BytePath] { try await time.bench.process(name, in: place) }
        let after = try #require(try await known("z"))
        #expect(after.hash == nil && after.fingerprint.modified != before.fingerprint.modified)
        // Without a birth time this is unknown until it is read.
        if before.birthTime != nil { #expect(after.arrived == before.arrived) }
        time.bench.script.forget()
        try await pass(1, time)
        #expect(time.ran == ["perform \(name) a"])
    }

    @Test("A file moved by rules from place to place is processed like one that was always there")
    func moved() async throws {
        let time = try await bench(
            """
            - { rule: Take, in: inbox, do: { probe: { name: in } } }
            - { rule: Nightly, in: [in, out], every: 1d, do: { probe: { name: nightly } } }
            - { rule: Finish, in: in, where: { age: "> 50h" }, do: { probe: { name: out } } }
            """)
        for place in ["in", "out"] as [BytePath] {
            time.bench.script.perform(place.text) { intent, _ in
                let to = intent.file.parent.parent.appending(place).appending(name: intent.file.name)
                guard try Durable.renameNew(intent.file, to: to) else { throw Fault(.failed, "there is one") }
                let file = try Descriptor(to)
                return Receipt(
                    "moved",
                    effects: [.moved(intent.file, to: to, try file.status().fingerprint, try ContentHash.of(file))])
            }
        }
        try time.write("inbox/x")
        try time.write("in/y")
        for _ in 0..<10 {
            for place in ["inbox", "in", "out"] {
                for name in try names(place) { try await time.bench.process(name, in: place) }
            }
            try await time.pass(day / 2)
        }
        #expect(try names("out") == ["x", "y"])
        for name in ["x", "y"] {
            #expect(time.ran.filter { $0 == "perform nightly \(name)" }.count == 5, "\(time.ran)")
        }
    }

    @Test("A product follows its origin's chain, even if the inode was another file's before")
    func reusedInode() async throws {
        let time = try await bench(Self.own)
        try time.write("inbox/new", "made")
        let print = try #require(try FileStatus.of(time.bench.path("inbox/new"))).fingerprint
        let paths = (time.bench.path("inbox/old"), time.bench.path("inbox/new"))
        try await time.bench.ledger.write { transaction in
            try transaction.setFile(
                FileRecord(place: "inbox", path: "old", fingerprint: print, hash: nil, birthTime: 1), due: [:])
            let hash = ContentHash(of: Array("made".utf8))
            try transaction.addProduct(ProductRecord(path: paths.0, hash: hash, firstJob: "other", depth: 1, job: "j"))
            try transaction.addProduct(ProductRecord(path: paths.1, hash: hash, firstJob: "own", depth: 1, job: "j"))
        }
        try await time.bench.process("new")
        #expect(try await time.bench.ledger.read { try $0.product(paths.1)?.firstJob } == "own")
    }

    @Test("Products are recognised after a restart")
    func restart() async throws {
        for life in 0..<3 {
            let time = try await bench(Self.own)
            if life == 0 { try time.write("inbox/a") }
            try await see(time)
            try await pass(1, time)
            #expect(time.ran == ["perform here a"])
            await time.keeper.stop()
            try time.bench.ledger.close()
        }
    }
}
