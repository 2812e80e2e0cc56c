import Glibc
import Ledger
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Acknowledged writes and kills")
struct DurabilityTests {
    @Test("Every write that returned survives SIGKILL, and no partial one does")
    func kill9() async throws {
        let folder = try TemporaryFolder("steward-kill9")
        let state: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [state = state as String] in
            let ledger = try Ledger.open(directory: BytePath(state)).ledger
            let acknowledged = try Descriptor(BytePath(state + "/acknowledged"), O_WRONLY | O_CREAT)
            let count = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<16 {
                    group.addTask {
                        for round in 0..<10_000 {
                            try await ledger.write { transaction in
                                try transaction.setMeta("\(writer).\(round)", "first half")
                                try transaction.note("kill9", "\(writer).\(round)")
                                try transaction.setMeta("\(writer).\(round)", "whole")
                            }
                            // One record of 8 bytes per write: it stays in the kernel when the process has ended.
                            let place = count.next()
                            try acknowledged.write(
                                [UInt8(writer), UInt8(round % 256), UInt8(round / 256), 1, 0, 0, 0, 10],
                                at: Int64(place) * 8)
                            if place == 400 { kill(getpid(), SIGKILL) }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        let bytes = try Descriptor(folder.path.appending("acknowledged")).readAll()
        let (ledger, opening) = try Ledger.open(directory: folder.path)
        #expect(opening == .existing)
        var count = 0
        for start in stride(from: 0, to: bytes.count - 7, by: 8) where bytes[start + 3] == 1 {
            let key = "\(bytes[start]).\(Int(bytes[start + 1]) + 256 * Int(bytes[start + 2]))"
            let value = try await ledger.read { try $0.meta(key) }
            #expect(value == "whole", "\(key)")
            count += 1
        }
        #expect(count >= 400)
        let noted = try await ledger.read { try $0.history(limit: 1_000_000) }
        for line in noted {
            let value = try await ledger.read { try $0.meta(line.message) }
            #expect(value == "whole", "\(line.message)")
        }
        #expect(noted.count >= count)
    }

    @Test("Sightings survive SIGKILL as well, and are visible to readers at once")
    func seen() async throws {
        let folder = try TemporaryFolder("steward-kill9")
        let state: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [state = state as String] in
            let ledger = try Ledger.open(directory: BytePath(state)).ledger
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask { try await ledger.writeSeen { try $0.setMeta("s\(number)", "1") } }
                    if number % 7 == 0 {
                        group.addTask { try await ledger.write { try $0.setMeta("w\(number)", "1") } }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await ledger.read { try $0.meta("s99") } == "1")
            await #expect(throws: Fault.self) {
                try await ledger.writeSeen { transaction in
                    try transaction.setMeta("half", "1")
                    throw Fault(.failed, "no")
                }
            }
            kill(getpid(), SIGKILL)
        }
        let ledger = try Ledger.open(directory: folder.path).ledger
        let found = try await ledger.read { transaction in
            try (0..<100).map { try transaction.meta("s\($0)") } + [try transaction.meta("w98")]
        }
        #expect(found == [String?](repeating: "1", count: 101))
        #expect(try await ledger.read { try $0.meta("half") } == nil)
    }

    @Test("A blocking write that returned survives SIGKILL")
    func blocking() async throws {
        let folder = try TemporaryFolder("steward-kill9")
        let state: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [state = state as String] in
            let ledger = try Ledger.open(directory: BytePath(state)).ledger
            try ledger.writeBlocking { try $0.setMeta("a", "1") }
            kill(getpid(), SIGKILL)
        }
        let ledger = try Ledger.open(directory: folder.path).ledger
        #expect(try await ledger.read { try $0.meta("a") } == "1")
    }

    @Test("After a checkpoint at rest, the log is overwritten and stops growing")
    func foldedAtRest() async throws {
        let folder = try TemporaryFolder()
        let ledger = try Ledger.fresh(folder.path)
        let log = folder.path.appending("ledger.sqlite-wal")
        #expect(!ledger.needsCheckpoint)
        for number in 0..<64 { try await ledger.write { try $0.note("kind", "line \(number)") } }
        #expect(ledger.needsCheckpoint)
        await ledger.checkpointAtRest()
        #expect(!ledger.needsCheckpoint)
        let size = try #require(try FileStatus.of(log)).size
        for number in 64..<96 { try await ledger.write { try $0.note("kind", "line \(number)") } }
        #expect(try FileStatus.of(log)?.size == size)
        let other = try #require(try Ledger.openForReading(directory: folder.path))
        #expect(try await other.read { try $0.history(limit: 200) }.count == 96)
    }
}
