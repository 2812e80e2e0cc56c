import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("One agent per state directory")
struct StateLockTests {
    private let folder: TemporaryFolder
    private var state: BytePath { folder.path.appending("state") }

    init() throws { folder = try TemporaryFolder() }

    @Test("A second agent is refused and told who holds the directory")
    func second() throws {
        let lock = try StateLock(directory: state)
        let fault = #expect(throws: Fault.self) { try StateLock(directory: state) }
        #expect(fault?.kind == .failed)
        #expect(fault?.message.contains("process \(getpid())") == true)
        #expect(StateLock.holder(of: state) == getpid())
        withExtendedLifetime(lock) {}
    }

    @Test("Two state directories are independent")
    func apart() throws {
        let one = try StateLock(directory: state)
        #expect(throws: Never.self) { try StateLock(directory: folder.path.appending("other")) }
        withExtendedLifetime(one) {}
    }

    @Test("A missing directory is not held by anyone")
    func nobody() { #expect(StateLock.holder(of: state) == nil) }

    @Test("It is free again when the agent releases it")
    func released() async throws {
        var lock: StateLock? = try StateLock(directory: state)
        #expect(StateLock.holder(of: state) == getpid())
        withExtendedLifetime(lock) {}
        lock = nil
        // A child just forked by another test shares the lock until its exec.
        try await waitUntil("the lock is free") { StateLock.holder(of: state) == nil }
        #expect(throws: Never.self) { try StateLock(directory: state) }
    }

    @Test("It is free again when its holder was killed")
    func killed() async throws {
        try Durable.makeDirectory(state)
        try folder.write("state/lock", "")
        let lock = state.appending("lock").text
        let process = Process([
            "/usr/bin/flock", lock, "/bin/sh", "-c", "echo $PPID >\"$1\"; echo locked; exec sleep 600", "sh", lock,
        ])
        try process.run { $0 == "locked\n" ? () : nil }
        let fault = #expect(throws: Fault.self) { try StateLock(directory: state) }
        #expect(fault?.message.contains("process \(process.processIdentifier)") == true)
        #expect(StateLock.holder(of: state) == process.processIdentifier)
        // flock(1) and the program it runs share the lock: both are ended.
        for child in Openers.processes(holding: state.appending("lock")) { kill(child.id, SIGKILL) }
        process.waitUntilExit()
        try await waitUntil("the lock is free") { StateLock.holder(of: state) == nil }
        #expect(throws: Never.self) { try StateLock(directory: state) }
    }
}
