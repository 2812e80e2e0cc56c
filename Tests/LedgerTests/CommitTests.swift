import Glibc
import Ledger
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("Writing to the ledger", .timeLimit(.minutes(30)))
struct CommitTests {
    private let folder: TemporaryFolder
    private let ledger: Ledger

    init() throws {
        folder = try TemporaryFolder()
        ledger = try Ledger.fresh(folder.path)
    }

    @Test("A thousand concurrent writes are all on disk")
    func group() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask { [ledger] in try await ledger.write { try $0.setMeta("k\(number)", "\(number)") } }
            }
            try await group.waitForAll()
        }
        let other = try #require(try Ledger.openForReading(directory: folder.path))
        let values = try await other.read { transaction in try (0..<1_000).map { try transaction.meta("k\($0)") } }
        #expect(values == (0..<1_000).map { "\($0)" })
    }

    @Test("A failed write is rolled back, without affecting concurrent ones")
    func oneFails() async throws {
        let failures = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<300 {
                group.addTask { [ledger] in
                    do {
                        try await ledger.write { transaction in
                            try transaction.setMeta("k\(number)", "half")
                            if number % 10 == 3 { throw Fault(.refused, "no \(number)") }
                            try transaction.setMeta("k\(number)", "whole")
                        }
                        return false
                    } catch let fault as Fault {
                        #expect(fault.message == "no \(number)")
                        return true
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 30)
        for number in 0..<300 {
            let value = try await ledger.read { try $0.meta("k\(number)") }
            #expect(value == (number % 10 == 3 ? nil : "whole"))
        }
    }

    @Test("A write returns what was committed, even if it was run again because of another")
    func runAgain() async throws {
        let given = try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<300 {
                group.addTask { [ledger] in
                    do {
                        return try await ledger.write { transaction in
                            let count = Int(try transaction.meta("count") ?? "0") ?? 0
                            try transaction.setMeta("count", "\(count + 1)")
                            if number % 10 == 3 { throw Fault(.refused, "no") }
                            return count + 1
                        }
                    } catch is Fault {
                        return nil
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(given.compactMap(\.self).sorted() == Array(1...270))
        #expect(try await ledger.read { try $0.meta("count") } == "270")
    }

    @Test("Invalid SQL fails only its own write")
    func sqlFails() async throws {
        async let good: Void = ledger.write { try $0.setMeta("good", "1") }
        await #expect(throws: (any Error).self) {
            try await ledger.write { try $0.addJob(Sample.job("j"), steps: Sample.steps("j") + Sample.steps("j")) }
        }
        try await good
        #expect(try await ledger.read { try $0.meta("good") } == "1")
        #expect(try await ledger.read { try $0.job("j") } == nil)
    }

    @Test("A caller's writes take effect in order, and return values")
    func order() async throws {
        for number in 1...50 {
            let before = try await ledger.write { transaction in
                let before = try transaction.meta("n")
                try transaction.setMeta("n", "\(number)")
                return before
            }
            #expect(before == (number == 1 ? nil : "\(number - 1)"))
        }
    }

    @Test("Blocking writes and batched ones work together")
    func blocking() async throws {
        let pool = BlockingPool("test", threads: 4)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask { [ledger] in try await ledger.write { try $0.setMeta("a\(number)", "1") } }
                group.addTask { [ledger] in
                    try await pool.run { try ledger.writeBlocking { try $0.setMeta("b\(number)", "1") } }
                }
            }
            try await group.waitForAll()
        }
        let count = try await ledger.read { transaction in
            try (0..<100).count { try transaction.meta("a\($0)") == "1" && transaction.meta("b\($0)") == "1" }
        }
        #expect(count == 100)
    }

    @Test("A write to a full disk is transient, and the ledger reports that until a write succeeds")
    func full() async throws {
        await #expect(processExitsWith: .success) { [state = folder.path.text as String] in
            let ledger = try Ledger.open(directory: BytePath(state)).ledger
            try ledger.writeBlocking { try $0.setMeta("a", "1") }
            // No file may grow beyond a byte.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1, rlim_max: .max)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let blocking = #expect(throws: Fault.self) { try ledger.writeBlocking { try $0.setMeta("a", "2") } }
            #expect(blocking?.kind == .transient && blocking?.message.contains("cannot commit to the ledger") == true)
            #expect(ledger.problem == blocking?.message)
            let shared = await #expect(throws: Fault.self) { try await ledger.write { try $0.setMeta("a", "3") } }
            #expect(shared?.kind == .transient)
            // Data that exceeds SQLite's cache is written before the commit.
            let large = String(repeating: "x", count: 16 << 20)
            let early = await #expect(throws: Fault.self) { try await ledger.write { try $0.setMeta("b", large) } }
            #expect(early?.kind == .transient)
            #expect(try ledger.readBlocking { try $0.meta("a") } == "1")
            #expect(ledger.problem != nil, "reading is no writing")
            try ledger.writeBlocking { _ in }
            try await ledger.write { _ in }
            try await ledger.writeSeen { _ = try $0.meta("a") }
            #expect(ledger.problem != nil, "nor is a write of nothing")
            limit.rlim_cur = .max
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            try await ledger.write { try $0.setMeta("a", "4") }
            #expect(ledger.problem == nil)
            #expect(try ledger.readBlocking { try $0.meta("a") } == "4")
        }
    }

    @Test("While the ledger is copied, writes continue, and the copy is consistent")
    func duringCopy() async throws {
        let page = String(repeating: "x", count: 1 << 20)
        try await ledger.write { transaction in
            for number in 0..<48 { try transaction.setMeta("page \(number)", page) }
            for key in ["first", "second"] { try transaction.setMeta(key, "before") }
        }
        let copy = folder.path.appending("copy.sqlite")
        let growing = folder.path.appending("copy.sqlite.new")
        // On a separate thread, which writes continuously while the copy grows, without waiting for other tasks.
        let pool = BlockingPool("writes")
        var wasWritten = false
        for _ in 1...20 where !wasWritten {
            let isDone = Atomic<Bool>(false)
            async let copying: Void = {
                defer { isDone.store(true, ordering: .releasing) }
                try await ledger.backUp(replacing: copy)
            }()
            wasWritten = try await pool.run { [ledger] in
                while !isDone.load(ordering: .acquiring) {
                    guard let size = try FileStatus.of(growing)?.size, size > 0 else {
                        usleep(1_000)
                        continue
                    }
                    let value = randomHex(4)
                    try ledger.writeBlocking { transaction in
                        for key in ["first", "second"] { try transaction.setMeta(key, value) }
                    }
                    if let size = try FileStatus.of(growing)?.size, size < 48 << 20 { return true }
                }
                return false
            }
            try await copying
        }
        #expect(wasWritten)
        try ledger.close()
        let other = try TemporaryFolder("steward-copy")
        #expect(try Durable.renameNew(copy, to: other.path.appending("ledger.sqlite")))
        let (copied, opening) = try Ledger.open(directory: other.path)
        #expect(opening == .existing)
        let found = try await copied.read { try ($0.meta("first"), $0.meta("second"), $0.meta("page 47")) }
        // It contains nothing written since its start, not even half a transaction.
        #expect(found.0 != nil && found.0 == found.1 && found.2 == page)
    }

    @Test("A write that fails for its own reasons says nothing about the ledger")
    func ownFailure() throws {
        #expect(throws: Fault.self) { try ledger.writeBlocking { _ in throw Fault(.transient, "busy") } }
        #expect(throws: (any Error).self) {
            try ledger.writeBlocking { try $0.addJob(Sample.job("j"), steps: Sample.steps("j") + Sample.steps("j")) }
        }
        #expect(ledger.problem == nil)
    }

    @Test("A reader sees one state from its first row to its last, while writes continue")
    func snapshot() async throws {
        try await ledger.write { transaction in
            for number in 0..<50 { try transaction.setMeta("k\(number)", "0") }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [ledger] in
                for round in 1...40 {
                    try await ledger.write { transaction in
                        for number in 0..<50 { try transaction.setMeta("k\(number)", "\(round)") }
                    }
                }
            }
            for _ in 0..<3 {
                group.addTask { [ledger] in
                    for _ in 0..<40 {
                        let values = try await ledger.read { transaction in
                            Set(try (0..<50).map { try transaction.meta("k\($0)") })
                        }
                        #expect(values.count == 1)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "So does a blocking one, with more readers than connections, and a failed one returns its connection"
    )
    func blockingSnapshot() async throws {
        try await ledger.write { transaction in
            for number in 0..<50 { try transaction.setMeta("k\(number)", "0") }
        }
        let pool = BlockingPool("test", threads: 12)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [ledger] in
                for round in 1...40 {
                    try await ledger.write { transaction in
                        for number in 0..<50 { try transaction.setMeta("k\(number)", "\(round)") }
                    }
                }
            }
            for reader in 0..<12 {
                group.addTask { [ledger] in
                    for round in 0..<40 {
                        try await pool.run {
                            if (reader + round) % 5 == 0 {
                                #expect(throws: Fault.self) {
                                    try ledger.readBlocking { transaction in
                                        _ = try transaction.meta("k0")
                                        throw Fault(.refused, "no")
                                    }
                                }
                            }
                            let values = try ledger.readBlocking { transaction in
                                Set(try (0..<50).map { try transaction.meta("k\($0)") })
                            }
                            #expect(values.count == 1)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A read after a blocking write sees it; a closed ledger cannot be read")
    func readAfterWrite() throws {
        for round in 0..<50 {
            try ledger.writeBlocking { try $0.setMeta("a", "\(round)") }
            #expect(try ledger.readBlocking { try $0.meta("a") } == "\(round)")
        }
        try ledger.close()
        #expect(throws: (any Error).self) { try ledger.readBlocking { try $0.meta("a") } }
        let again = try Ledger.open(directory: folder.path).ledger
        #expect(try again.readBlocking { try $0.meta("a") } == "49")
    }
}
