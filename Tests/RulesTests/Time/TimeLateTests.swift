import Dispatch
import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import Synchronization
import TestSupport
import Testing

@Suite("Files due before they were entered")
struct TimeLateTests {
    private let folder: TemporaryFolder
    private let clock: MovedClock

    init() throws {
        folder = try TemporaryFolder()
        clock = MovedClock(try #require(DateFormat.date(.text("2026-11-23 12:00"), .gmt)))
    }

    private static let make = "- { rule: Make, in: inbox, where: { extension: raw }, do: { probe: { name: make } } }"
    private static let old =
        "- { rule: Old, in: inbox, where: { extension: jpg, age: \"> 1h\" }, do: { probe: { name: old } } }"
    private static let both = "\(make)\n\(old)"

    /// A bench whose `make` creates `made.jpg` in the place before the ledger records it.
    private func bench(
        _ rules: String, _ clock: MovedClock? = nil, before: @escaping @Sendable () -> Void = {}
    ) async throws -> TimeBench {
        let time = try await TimeBench(folder.path, clock ?? self.clock, rules: rules)
        time.bench.script.perform("make") { _, _ in
            try time.write("inbox/made.jpg")
            let path = time.bench.path("inbox/made.jpg")
            let file = try Descriptor(path)
            let effect = FileEffect.created(path, try file.status().fingerprint, try ContentHash.of(file))
            before()
            return Receipt("made", effects: [effect])
        }
        return time
    }

    // MARK: The agent's own

    @Test("A rule's product becomes due even if the agent works on it when it is first examined")
    func madeAndAtWork() async throws {
        let time = try await bench(Self.both)
        let made = time.bench.path("inbox/made.jpg")
        time.bench.inWork.begin([made])
        try time.write("inbox/a.raw")
        try await time.bench.process("a.raw")
        try await time.wake()
        time.bench.inWork.end([made])
        try await time.jump(2 * hour)
        #expect(time.ran == ["perform make a.raw", "perform old made.jpg"])
    }

    @Test("So does one made long before the ledger was written")
    func toldLate() async throws {
        // No file system can store such a late time.
        let clock = MovedClock(Timestamp.now().adding(seconds: 365 * day))
        let time = try await bench(Self.both, clock) { clock.advance(2 * hour) }
        try time.write("inbox/a.raw")
        try await time.bench.process("a.raw")
        try await time.wake()
        #expect(time.ran == ["perform make a.raw", "perform old made.jpg"])
    }

    @Test("Conditions it met when it was made do not count as met by time")
    func metAtOnce() async throws {
        let time = try await bench(
            "\(Self.make)\n- { rule: Young, in: inbox, where: { extension: jpg, age: \"< 1d\" }, do: { probe: {} } }")
        try time.write("inbox/a.raw")
        try await time.bench.process("a.raw")
        try await time.wake()
        #expect(time.ran == ["perform make a.raw"])
    }

    @Test("A file that becomes due while the agent works on it is processed under its new name")
    func movedAfterItsTime() async throws {
        let time = try await bench(
            "- { rule: Move, in: inbox, at: \"every month 1 03:00\", do: { probe: { name: move } } }\n\(Self.old)")
        let (from, to) = (time.bench.path("inbox/a.jpg"), time.bench.path("inbox/sub/b.jpg"))
        time.bench.script.perform("move") { _, _ in
            try Durable.makeDirectory(to.parent)
            guard try Durable.renameNew(from, to: to) else { throw Fault(.failed, "there is one") }
            let file = try Descriptor(to)
            return Receipt(
                "moved", effects: [.moved(from, to: to, try file.status().fingerprint, try ContentHash.of(file))])
        }
        try time.write("inbox/a.jpg")
        try await time.bench.process("a.jpg")
        time.bench.inWork.begin([from])
        try await time.jump(2 * hour)
        #expect(time.ran == [])
        let record = try #require(try await time.bench.ledger.read { try $0.file("inbox", "a.jpg") })
        let jobs = try await time.bench.planner.plan(record, in: time.bench.place(), rules: ["Move"], again: true)
        await time.bench.runner.submit(jobs.map { ($0.id, $0.place, $0.path) }, areReady: true)
        await time.bench.runner.idle()
        time.bench.inWork.end([from])
        try await time.jump(minute)
        #expect(time.ran == ["perform move a.jpg", "perform old b.jpg"])
    }

    @Test("A file replaced by one rule stays due for another rule's schedule")
    func replacedAfterItsTime() async throws {
        let time = try await bench(
            """
            - { rule: Night, in: inbox, at: "every day 03:00", do: { probe: { name: night } } }
            - { rule: Mend, in: inbox, at: "every month 1 03:00", do: { probe: { name: mend } } }
            """)
        let path = time.bench.path("inbox/a.jpg")
        time.bench.script.perform("mend") { _, _ in
            try time.write("inbox/a.jpg", "mended")
            let file = try Descriptor(path)
            return Receipt(
                "mended", effects: [.moved(path, to: path, try file.status().fingerprint, try ContentHash.of(file))])
        }
        try time.write("inbox/a.jpg")
        try await time.bench.process("a.jpg")
        time.bench.inWork.begin([path])
        try await time.pass(15 * hour + 1)
        #expect(time.ran == [])
        let record = try #require(try await time.bench.ledger.read { try $0.file("inbox", "a.jpg") })
        let jobs = try await time.bench.planner.plan(record, in: time.bench.place(), rules: ["Mend"], again: true)
        await time.bench.runner.submit(jobs.map { ($0.id, $0.place, $0.path) }, areReady: true)
        await time.bench.runner.idle()
        time.bench.inWork.end([path])
        try await time.pass(minute)
        #expect(time.ran == ["perform mend a.jpg", "perform night a.jpg"])
    }

    @Test("A rule's product is processed even if somebody changes it just before its turn")
    func changedBeforeItsTurn() async throws {
        let time = try await bench(
            """
            \(Self.make)
            - rule: Old
              in: inbox
              where: { extension: jpg, age: { since: arrived, is: "> 1h" } }
              do: { probe: { name: old } }
            """)
        try time.write("inbox/a.raw")
        try await time.bench.process("a.raw")
        try await time.wake()
        #expect(try await time.due().map(\.path) == ["made.jpg"])
        clock.advance(2 * hour)
        try time.write("inbox/made.jpg", "by hand")
        try await time.bench.process("made.jpg")
        #expect(time.ran == ["perform make a.raw", "perform old made.jpg"])
        try await time.pass(day)
        #expect(time.ran.count == 2, "a file arrives once")
    }

    // MARK: Rules that are new

    @Test("A new rule counts from when it came into force, however long a file waits for its turn")
    func newRule() async throws {
        let time = try await bench("- { rule: Other, in: inbox, where: { extension: pdf }, do: { probe: {} } }")
        try time.write("inbox/young.jpg", age: 30 * minute)
        try time.write("inbox/older.jpg", age: 90 * minute)
        for name in ["young.jpg", "older.jpg"] as [BytePath] { try await time.bench.process(name) }
        try time.bench.setRules(Self.old.replacingOccurrences(of: "do:", with: "existing: skip, do:"))
        clock.advance(hour)
        try await time.keeper.rulesChanged()
        try await time.wake()
        #expect(time.ran == ["perform old young.jpg"])
    }

    @Test("For a rule newer than a waiting file, an age already reached is not news")
    func newerRule() async throws {
        let time = try await bench(Self.both)
        let made = time.bench.path("inbox/made.jpg")
        time.bench.inWork.begin([made])
        try time.write("inbox/a.raw")
        try await time.bench.process("a.raw")
        try await time.wake()
        clock.advance(90 * minute)
        try await time.setRules(
            """
            \(Self.both)
            - { rule: New, in: inbox, where: { age: "> 1h" }, existing: skip, do: { probe: { name: new } } }
            """)
        time.bench.inWork.end([made])
        try await time.jump(minute)
        #expect(time.ran == ["perform make a.raw", "perform old made.jpg"])
    }

    // MARK: When a file came

    @Test("A file that is already old enough is processed when it gets a matching name")
    func renamedLate() async throws {
        let time = try await bench(Self.arrived("extension: txt"))
        try time.write("inbox/a.bin")
        try await time.bench.process("a.bin")
        clock.advance(15)
        #expect(try Durable.renameNew(time.bench.path("inbox/a.bin"), to: time.bench.path("inbox/a.txt")))
        for name in ["a.txt", "a.bin"] as [BytePath] { try await time.bench.process(name) }
        // Unless the file system shows that it is the same file, it has only just arrived.
        try await time.pass(minute)
        #expect(time.ran == ["perform r a.txt"])
    }

    @Test("So is one that grows to a matching size")
    func grownLate() async throws {
        let time = try await bench(Self.arrived("size: \"> 1 KiB\""))
        try time.write("inbox/a.txt")
        try await time.bench.process("a.txt")
        clock.advance(15)
        try time.write("inbox/a.txt", String(repeating: "x", count: 2_000))
        try await time.bench.process("a.txt")
        #expect(time.ran == ["perform r a.txt"])
    }

    private static func arrived(_ condition: String) -> String {
        """
        - rule: R
          in: inbox
          where: { \(condition), age: { since: arrived, is: "> 10s" } }
          do: { probe: { name: r } }
        """
    }

    // MARK: Wake-ups

    @Test("A place that returns while being marked away is processed, even if its wake-up has passed")
    func backMeanwhile() async throws {
        let time = try await bench(
            """
            - { rule: Any, in: inbox, do: { probe: { name: any } } }
            - { rule: Month, in: inbox, where: { age: "> 30d" }, do: { probe: { name: month } } }
            """)
        try time.write("inbox/a.txt", "one")
        try await time.bench.process("a.txt")
        _ = try time.bench.journal.presence.look(at: time.bench.place())
        // In another folder, the file of that name is read: it may be the same.
        try time.bench.write("other/a.txt", "two")
        let (root, aside, other) = (time.bench.path("inbox"), time.bench.path("aside"), time.bench.path("other"))
        #expect(rename(root.text, aside.text) == 0)
        #expect(rename(other.text, root.text) == 0)
        let opened = try OpenedFile(root.appending("a.txt"))
        // The absence of the place cannot be recorded yet.
        let (isHeld, goOn, ledger) = (Mark(), DispatchSemaphore(value: 0), time.bench.ledger)
        defer { goOn.signal() }
        let holding = Task {
            try await ledger.write { _ in
                isHeld.set()
                goOn.wait()
            }
        }
        try await waitUntil("nobody can write to the ledger") { isHeld.isSet }
        clock.advance(31 * day)
        await time.keeper.wake()
        try await waitUntil("the other folder is looked at") { opened.hasBeenOpened }
        #expect(rename(root.text, other.text) == 0)
        #expect(rename(aside.text, root.text) == 0)
        await time.keeper.wake()
        goOn.signal()
        try await holding.value
        try await waitUntil("it is dealt with") { time.ran == ["perform any a.txt", "perform month a.txt"] }
        try await time.rest()
    }
}

/// Reports whether somebody has opened a file.
private final class OpenedFile: Sendable {
    private let queue: Descriptor

    init(_ path: BytePath) throws {
        queue = Descriptor(owning: inotify_init1(Int32(IN_CLOEXEC)), path: path)
        guard inotify_add_watch(queue.raw, path.text, UInt32(IN_OPEN)) >= 0 else { throw Fault.system("watch", path) }
    }

    var hasBeenOpened: Bool {
        var one = pollfd(fd: queue.raw, events: Int16(POLLIN), revents: 0)
        return poll(&one, 1, 0) > 0
    }
}

private final class Mark: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}
