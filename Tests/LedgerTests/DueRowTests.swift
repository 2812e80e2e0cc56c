import Foundation
import Ledger
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("Due times in the ledger")
struct DueRowTests {
    private let folder: TemporaryFolder
    private let ledger: Ledger

    init() async throws {
        folder = try TemporaryFolder()
        let ledger = try Ledger.open(directory: folder.path).ledger
        self.ledger = ledger
        try await ledger.write { transaction in
            for place in ["inbox", "notes"] { _ = try transaction.registerPlace(place, root: BytePath("/\(place)")) }
        }
    }

    private func at(_ seconds: Int64) -> Timestamp { Timestamp(nanoseconds: seconds * 1_000_000_000) }

    private func file(_ path: BytePath) -> FileRecord {
        FileRecord(
            place: "inbox", path: path,
            fingerprint: Fingerprint(device: 1, inode: 2, size: 3, modified: 4, changed: 5), hash: nil)
    }

    @Test("A file's rows are replaced at its next judgement, and removed with it")
    func replaced() async throws {
        let times = (at(10), at(20), at(30))
        try await ledger.write { try $0.setFile(self.file("a"), due: ["r1": times.0, "r2": times.1]) }
        #expect(try await ledger.read { try $0.due("inbox", "a").map(\.becoming) } == ["r1", "r2"])
        try await ledger.write { try $0.setFile(self.file("a"), due: ["r2": times.2]) }
        #expect(try await ledger.read { try $0.due("inbox", "a").map(\.due) } == [times.2])
        try await ledger.write { try $0.setGone("inbox", "a") }
        #expect(try await ledger.read { try $0.due("inbox", "a") }.isEmpty)
    }

    @Test("Rows of one place come in order of time, and none before its time")
    func order() async throws {
        let (times, now) = ((0..<10).map { at(100 - Int64($0)) }, at(95))
        try await ledger.write { transaction in
            for (number, time) in times.enumerated() {
                try transaction.setFile(self.file(BytePath("f\(number)")), due: ["r": time])
            }
        }
        let rows = try await ledger.read { try $0.due(in: "inbox", by: now, limit: 3) }
        #expect(rows.map(\.path) == ["f9", "f8", "f7"])
        let (next, isDue) = try await ledger.read { try $0.nextDue(in: "inbox", after: now) }
        #expect(next == at(96) && isDue)
        #expect(try await ledger.read { try $0.nextDue(in: "notes", after: now).next } == nil)
        #expect(try await ledger.read { try $0.nextDue() } == at(91))
    }

    @Test(
        "A schedule's rows wait until all exist, take the newest time, and survive a judgement and a rename"
    )
    func scheduled() async throws {
        let (one, two) = (at(10), at(20))
        try await ledger.write { transaction in
            try transaction.setScheduled("inbox", "a", rule: "r", instant: one)
            try transaction.setScheduled("inbox", "a", rule: "r", instant: two)
            try transaction.setFile(self.file("a"), due: [:])
        }
        #expect(try await ledger.read { try $0.due(in: "inbox", by: two, except: ["r"], limit: 9) }.isEmpty)
        let rows = try await ledger.read { try $0.due(in: "inbox", by: two, except: ["other"], limit: 9) }
        #expect(rows.map(\.kind) == [.scheduled(rule: "r", instant: two)])
        try await ledger.write { transaction in
            try transaction.moveScheduled("inbox", "a", to: "b")
            try transaction.setGone("inbox", "a")
            try transaction.postponeDue("inbox", "b", by: two, to: self.at(90))
        }
        let moved = try await ledger.read { try $0.due("inbox", "b") }
        #expect(moved.map(\.due) == [at(90)])
        #expect(moved.map(\.kind) == [.scheduled(rule: "r", instant: two)])
        try await ledger.write { try $0.removeScheduled("inbox", "b", by: self.at(90)) }
        #expect(try await ledger.read { try $0.due("inbox", "b") }.isEmpty)
    }

    @Test("Rows of a rule no longer in force are never returned, and are removed")
    func orphans() async throws {
        try await ledger.write { transaction in
            _ = try transaction.registerTimed(["r"])
            try transaction.setFile(self.file("a"), due: ["r": self.at(10)])
            try transaction.setReckoned(["r"])
        }
        #expect(try await ledger.write { try $0.registerTimed(["r"]) }.isEmpty)
        #expect(try await ledger.write { try $0.registerTimed(["s"]) } == ["s"])
        #expect(try await ledger.read { try $0.comingDue(limit: 9) }.isEmpty)
        #expect(try await ledger.read { try $0.due("inbox", "a").map(\.kind) } == [.orphaned])
        #expect(try await ledger.write { try $0.registerTimed(["r", "s"]) } == ["r", "s"], "it begins anew")
        #expect(try await ledger.read { try $0.due("inbox", "a").map(\.kind) } == [.orphaned], "under another number")
        try await ledger.prune(before: .now())
        #expect(try await ledger.read { try $0.due("inbox", "a") }.isEmpty)
    }

    @Test(
        "Listeners learn the earliest time entered, once committed, and never an uncommitted one")
    func told() async throws {
        let told = Noted()
        ledger.due.listen { told.note($0) }
        let times = [at(30), at(10), at(20)]
        try await ledger.write { transaction in
            try transaction.setFile(self.file("a"), due: ["r": times[0], "s": times[1]])
            try transaction.setFile(self.file("b"), due: ["r": times[2]])
        }
        #expect(told.times == [times[1]])
        _ = try? await ledger.write { transaction in
            try transaction.setFile(self.file("c"), due: ["r": times[0]])
            throw Fault(.failed, "not to be")
        }
        #expect(told.times.count == 1)
        #expect(try await ledger.read { try $0.due("inbox", "c") }.isEmpty)
    }

    @Test("Entries made without rules are examined later, only where a rule might select the name")
    func unreckoned() async throws {
        ledger.due.expect { $0 == "inbox" && $1.name.last == UInt8(ascii: "x") }
        let now = at(7)
        ledger.due.tellTime(by: WallClock { now })
        try await ledger.write { transaction in
            for name in ["a.x", "a.y"] { try transaction.setFile(self.file(BytePath(name))) }
        }
        #expect(try await ledger.read { try $0.due("inbox", "a.x").map(\.kind) } == [.unreckoned(since: now)])
        #expect(try await ledger.read { try $0.due("inbox", "a.y") }.isEmpty)
        #expect(try await ledger.read { try $0.nextDue() } == nil, "nothing that a person is told of")
    }

    @Test("They count from the earliest time entered until handled, and never from the future")
    func earliest() async throws {
        ledger.due.expect { _, _ in true }
        let (early, between, late) = (at(50), at(55), at(60))
        ledger.due.tellTime(by: WallClock { early })
        try await ledger.write { try $0.setFile(self.file("a")) }
        ledger.due.tellTime(by: WallClock { late })
        try await ledger.write { transaction in
            try transaction.postponeDue("inbox", "a", by: late, to: self.at(90))
            for name in ["a", "b"] { try transaction.setFile(self.file(BytePath(name))) }
            try transaction.setUnreckoned("inbox", "b", since: between)
            try transaction.setUnreckoned("inbox", "c", since: self.at(90))
        }
        let found = try await ledger.read { transaction in
            try ["a", "b", "c"].flatMap { try transaction.due("inbox", BytePath($0)).map(\.kind) }
        }
        #expect(found == [.unreckoned(since: early), .unreckoned(since: between), .unreckoned(since: late)])
        #expect(try await ledger.read { try $0.due(in: "inbox", by: late, limit: 9).count } == 3, "now, for each")
        try await ledger.write { try $0.setFile(self.file("a"), due: [:]) }
        try await ledger.write { try $0.setFile(self.file("a")) }
        #expect(try await ledger.read { try $0.due("inbox", "a").map(\.kind) } == [.unreckoned(since: late)])
    }

    @Test(
        "A row of an older version has no start time until the file is entered again",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3"))
    func older() async throws {
        ledger.due.expect { _, _ in true }
        let now = at(7)
        ledger.due.tellTime(by: WallClock { now })
        try await ledger.write { try $0.setFile(self.file("a")) }
        try runProgram([
            "/usr/bin/python3", "-c",
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                + "c.execute('update due set instant = -9223372036854775808'); c.commit()",
            ledger.file.text,
        ]).check()
        let found = try await ledger.read { try $0.due("inbox", "a") }
        #expect(found.map(\.kind) == [.unreckoned(since: nil)])
        try await ledger.write { try $0.keepDue(found, "inbox", "b") }
        #expect(try await ledger.read { try $0.due("inbox", "b") }.isEmpty)
        try await ledger.write { try $0.setFile(self.file("a")) }
        #expect(try await ledger.read { try $0.due("inbox", "a").map(\.kind) } == [.unreckoned(since: now)])
    }

    @Test("A file's rows can be entered for another name, each with its time")
    func kept() async throws {
        ledger.due.expect { _, _ in true }
        let (instant, since, later) = (at(20), at(15), at(90))
        let rows = try await ledger.write { transaction -> [DueRecord] in
            _ = try transaction.registerTimed(["r", "s"])
            try transaction.setFile(self.file("a"), due: ["r": self.at(10)])
            try transaction.setScheduled("inbox", "a", rule: "s", instant: instant)
            try transaction.setUnreckoned("inbox", "a", since: since)
            try transaction.postponeDue("inbox", "a", by: instant, to: later)
            let rows = try transaction.due("inbox", "a")
            try transaction.setGone("inbox", "a")
            try transaction.keepDue(rows, "inbox", "b")
            return rows
        }
        #expect(rows.count == 3 && rows.allSatisfy { $0.due == later })
        #expect(try await ledger.read { try $0.due("inbox", "a") }.isEmpty)
        let moved = try await ledger.read { try $0.due("inbox", "b") }
        #expect(moved.first?.kind == .unreckoned(since: since))
        #expect(moved.dropFirst().allSatisfy { $0.due == later })
        #expect(Set(moved.compactMap(\.rule)) == ["r", "s"])
        #expect(moved.contains { $0.kind == .scheduled(rule: "s", instant: instant) })
    }

    @Test("A rule's start is remembered for as long as it is in force")
    func since() async throws {
        let (one, two, three) = (at(10), at(20), at(30))
        try await ledger.write { transaction in
            _ = try transaction.registerTimed(["r"], since: one)
            _ = try transaction.registerTimed(["r", "s"], since: two)
            try transaction.setReckoned(["r", "s"])
        }
        #expect(try await ledger.read { try $0.timedSince() } == ["r": one, "s": two])
        _ = try await ledger.write { try $0.registerTimed(["s"], since: three) }
        #expect(try await ledger.read { try $0.timedSince() } == ["s": two])
        _ = try await ledger.write { try $0.registerTimed(["r", "s"], since: three) }
        #expect(try await ledger.read { try $0.timedSince() } == ["r": three, "s": two])
    }

    @Test("A schedule is stored unchanged")
    func schedules() async throws {
        var record = ScheduleRecord(rule: "R", spec: "every day 03:00", anchor: at(5))
        (record.last, record.next, record.entering) = (at(7), at(9), at(8))
        let set = record
        try await ledger.write { try $0.setSchedule(set) }
        #expect(try await ledger.read { try $0.schedules() } == [record])
        #expect(try await ledger.read { try $0.nextDue() } == at(9))
        try await ledger.write { try $0.removeSchedules(except: []) }
        #expect(try await ledger.read { try $0.schedules() }.isEmpty)
    }
}

private final class Noted: Sendable {
    private let noted = Mutex<[Timestamp]>([])
    var times: [Timestamp] { noted.withLock { $0 } }
    func note(_ time: Timestamp) { noted.withLock { $0.append(time) } }
}
