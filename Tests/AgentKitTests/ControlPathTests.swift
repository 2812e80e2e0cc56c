import Foundation
import Logging
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import AgentKit

@Suite("Ownership of the control socket")
struct ControlPathTests {
    private let folder: TemporaryFolder
    private let path: BytePath

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path.appending("control.sock")
    }

    private func server() -> ControlServer { ControlServer(path: path, log: Logger(label: "test")) }

    private func serving(_ server: ControlServer, _ word: String) -> Task<Void, any Error> {
        Task { try await server.run(Ask.answered(word)) }
    }

    private func asked() async throws -> [String]? { try await ControlTimeoutTests.answer(path) }

    @Test("A second agent is refused the path, even before the first one listens")
    func second() async throws {
        let (first, second) = (server(), server())
        try first.claim()
        #expect(throws: Fault.self) { try second.claim() }
        let task = serving(first, "first")
        try await waitUntil("the first answers") { try await asked() == ["first"] }
        let error = await #expect(throws: Fault.self) { try await serving(second, "second").value }
        #expect(error?.message.contains("STEWARD_RUNTIME") == true)
        second.stop()
        #expect(try await asked() == ["first"])
        first.stop()
        try await task.value
        #expect(try FileStatus.of(path) == nil)
        let again = serving(second, "second")
        try await waitUntil("the path is free again") { try await asked() == ["second"] }
        second.stop()
        try await again.value
    }

    @Test("A listener without such a lock is left alone; a socket without a listener is removed")
    func others() async throws {
        var other: BareListener? = try BareListener(path)
        let server = server()
        let error = #expect(throws: Fault.self) { try server.claim() }
        #expect(error?.message.contains("systemd") == true)
        #expect(try FileStatus.of(path) != nil)
        withExtendedLifetime(other) {}
        other = nil
        let task = serving(server, "here")
        try await waitUntil("it answers in its place") { try await asked() == ["here"] }
        server.stop()
        try await task.value
    }

    @Test("On exit a socket is removed only if this agent bound it")
    func removal() async throws {
        let server = server()
        let task = serving(server, "here")
        try await waitUntil("it answers") { try await asked() == ["here"] }
        // As an agent that does not know the lock does.
        try Durable.remove(path)
        let other = try BareListener(path)
        server.stop()
        try await task.value
        #expect(try FileStatus.of(path) != nil)
        withExtendedLifetime(other) {}
    }
}
