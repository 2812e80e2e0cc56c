import ControlSocket
import Foundation
import Glibc
import Logging
import Platform
import Synchronization
import TestSupport
import Testing

@testable import AgentKit

/// A command answered by the test.
struct Ask: Command {
    static let name = "ask"
    static let onlyLooks = true

    func run(in agent: AgentContext) async throws -> [String] { [] }

    func lines(_ answer: [String]) -> [String] { answer }

    /// An agent that gives this answer to everything.
    static func answered(_ answer: String) -> CommandTable {
        var table = CommandTable()
        table.add(Ask.self) { _ in [answer] }
        return table
    }
}

/// Another.
private struct Look: Command {
    static let name = "look"
    static let onlyLooks = true

    func run(in agent: AgentContext) async throws -> [String] { [] }

    func lines(_ answer: [String]) -> [String] { answer }
}

/// One that changes something.
private struct Change: Command {
    static let name = "change"

    func run(in agent: AgentContext) async throws -> [String] { [] }

    func lines(_ answer: [String]) -> [String] { answer }
}

/// How long the daemon waits for a command that does not read its answer.
@Suite("Timeouts of commands")
struct ControlTimeoutTests {
    private let writer: ControlConnection
    private let reader: ControlConnection
    /// More than two sockets can buffer.
    private let answer = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { throw TestFailure("no sockets") }
        (writer, reader) = (ControlConnection(owning: ends[0]), ControlConnection(owning: ends[1]))
    }

    /// Asks on a separate thread, because it blocks, with a timeout suited to many parallel tests.
    static func answer(_ path: BytePath) async throws -> [String]? {
        try await BlockingPool("test").run { try ControlClient.ask(Ask(), at: path, timeout: 600) }
    }

    /// On a separate thread, because it blocks.
    private func sending() -> Task<Result<Void, any Error>, Never> {
        let (pool, writer, answer) = (BlockingPool("test"), writer, answer)
        return Task {
            do {
                return .success(try await pool.run { try answer.withUnsafeBytes { try writer.write($0) } })
            } catch {
                return .failure(error)
            }
        }
    }

    @Test("A slow reader gets everything, however long it reads nothing")
    func slow() async throws {
        let asked = Mutex(0)
        try writer.setTimeout(1)
        try writer.waitWithoutTimeout(asking: 1) { _ in asked.withLock { $0 += 1 } }
        let sending = sending()
        try await waitUntil("it waited longer than it was given before") { asked.withLock { $0 } >= 2 }
        var got = [UInt8](repeating: 0, count: answer.count)
        try got.withUnsafeMutableBytes { try reader.read($0) }
        try await sending.value.get()
        #expect(got == answer)
    }

    @Test("A waiting request can be cancelled; without cancellation it times out")
    func calledOff() async throws {
        struct Enough: Error {}
        try writer.waitWithoutTimeout(asking: 1) { if $0 > .zero { throw Enough() } }
        await #expect(throws: Enough.self) { try await sending().value.get() }
        // Bytes that would be taken for the rest of it are not written.
        #expect(throws: Fault.self) { try answer.prefix(10).withUnsafeBytes { try writer.write($0) } }
        withExtendedLifetime(reader) {}
    }

    @Test("Without a timeout, a peer that reads nothing counts as gone")
    func gone() async throws {
        try writer.waitWithoutTimeout { _ in }
        try writer.setTimeout(1)
        let error = await #expect(throws: Fault.self) { try await sending().value.get() }
        #expect(error?.message.contains("did not read in time") == true)
        withExtendedLifetime(reader) {}
    }

    @Test("Silent clients block nobody: requests are answered")
    func silent() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("control.sock")
        let server = ControlServer(path: path, timeout: 5, log: Logger(label: "test"))
        let serving = Task { try await server.run(Ask.answered("here")) }
        try await waitUntil("it listens") { try ControlConnection.connect(path) != nil }
        let silent = try (0..<8).map { _ in try #require(try ControlConnection.connect(path)) }
        #expect(try await Self.answer(path) == ["here"])
        withExtendedLifetime(silent) {}
        server.stop()
        try await serving.value
    }

    @Test("Clients that do not read their answers block nobody either")
    func takingNothing() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("control.sock")
        let server = ControlServer(path: path, timeout: 5, log: Logger(label: "test"))
        let large = String(repeating: "x", count: 4 << 20)
        var commands = Ask.answered("here")
        commands.add(Change.self) { _ in [large] }
        let serving = Task { [commands] in try await server.run(commands) }
        try await waitUntil("it listens") { try ControlConnection.connect(path) != nil }
        let deaf = try (0..<8).map { _ in try #require(try ControlConnection.connect(path)) }
        for connection in deaf { try connection.send(ControlRequest(Change())) }
        #expect(try await Self.answer(path) == ["here"])
        withExtendedLifetime(deaf) {}
        server.stop()
        try await serving.value
    }

    @Test("A client that leaves before its answer makes room; a change it requested is completed anyway")
    func departed() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("control.sock")
        let server = ControlServer(path: path, timeout: 300, most: 2, log: Logger(label: "test"))
        let asked = Mutex(0)
        let mayEnd = Mutex(false)
        let wasCancelled = Mutex<[String: Bool]>([:])
        let work = { @Sendable (name: String) async -> [String] in
            asked.withLock { $0 += 1 }
            while !mayEnd.withLock({ $0 }) {
                do { try await Task.sleep(for: .milliseconds(10)) } catch { break }
            }
            wasCancelled.withLock { $0[name] = Task.isCancelled }
            return []
        }
        var commands = Ask.answered("here")
        commands.add(Look.self) { _ in await work(Look.name) }
        commands.add(Change.self) { _ in await work(Change.name) }
        let serving = Task { [commands] in try await server.run(commands) }
        let gone = Mutex<[ControlConnection]>([])
        // Each of them is kept: a closed one would occupy its slot until that is noticed.
        func ask(_ command: some Command) async throws {
            try await waitUntil("it listens") {
                guard let connection = try ControlConnection.connect(path) else { return false }
                try connection.send(ControlRequest(command))
                gone.withLock { $0.append(connection) }
                return true
            }
        }
        try await ask(Look())
        try await ask(Change())
        try await waitUntil("both are being answered") { asked.withLock { $0 } == 2 }
        gone.withLock { $0 = [] }
        try await waitUntil("there is room") {
            do {
                return try await Self.answer(path) == ["here"]
            } catch let fault as Fault where fault.message.contains("busy") {
                return false
            }
        }
        #expect(wasCancelled.withLock { $0 } == [Look.name: true])
        mayEnd.withLock { $0 = true }
        try await waitUntil("the other has ended") { wasCancelled.withLock { $0.count } == 2 }
        #expect(wasCancelled.withLock { $0 } == [Look.name: true, Change.name: false])
        server.stop()
        try await serving.value
    }

    @Test("An agent that accepts no connections, or does not answer, is waited for only so long")
    func mute() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("control.sock")
        // A single caller fits in its queue, and is never accepted.
        let listener = try BareListener(path, queue: 0)
        for _ in 0..<2 {
            let error = await #expect(throws: Fault.self) {
                try await BlockingPool("test").run {
                    try ControlClient.ask(Ask(), at: path, timeout: 1)
                }
            }
            #expect(error?.kind == .failed && error?.message.contains("does not answer") == true, "\(error as Any)")
        }
        withExtendedLifetime(listener) {}
    }

    @Test("A rejected client is told why, before or after its request")
    func turnedAway() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("control.sock")
        let server = ControlServer(path: path, timeout: 300, most: 2, log: Logger(label: "test"))
        let serving = Task { try await server.run(Ask.answered("here")) }
        // Each of them is kept: a closed one would occupy its slot until that is noticed.
        let both = Mutex<[ControlConnection]>([])
        try await waitUntil("it listens") {
            guard let connection = try ControlConnection.connect(path) else { return false }
            return both.withLock {
                $0.append(connection)
                return $0.count == 2
            }
        }
        try await waitUntil("both are there") {
            do {
                return try ControlClient.ask(Ask(), at: path) == nil
            } catch let fault as Fault {
                return fault.message.contains("busy")
            }
        }
        let error = #expect(throws: Fault.self) {
            _ = try VaultClient.ask(ShowVaultStatus(), of: "main", at: path)
        }
        #expect(error?.message.contains("busy") == true)
        both.withLock { $0 = [] }
        server.stop()
        try await serving.value
    }
}
