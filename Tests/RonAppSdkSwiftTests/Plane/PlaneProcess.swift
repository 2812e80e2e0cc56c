import Foundation
import Glibc
import Platform
import Synchronization
import TestSupport

/// The built `ron-mock-plane` in a separate process, which can be killed.
final class PlaneProcess: Sendable {
    let url: String
    private let id: pid_t

    /// Starts it at a free port, and waits until it listens.
    ///
    /// - Parameter arguments: in addition to the port.
    init(_ arguments: [String]) async throws {
        guard let program = Built.program("ron-mock-plane") else { throw TestFailure("ron-mock-plane was not built") }
        (url, id) = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try Self.start(program, arguments) })
            }
        }
    }

    private static func start(_ program: BytePath, _ arguments: [String]) throws -> (String, pid_t) {
        let process = Process([program.text, "--port", "0"] + arguments)
        let url = try process.run { $0.firstMatch(of: /listens at (\S+)\n/).map { String($0.output.1) } }
        return (url, process.processIdentifier)
    }

    /// Sends SIGKILL; the process is gone when this returns.
    func kill() async throws {
        Glibc.kill(id, SIGKILL)
        try await waitUntil("the killed plane is gone") { Glibc.kill(id, 0) != 0 }
    }

    deinit { Glibc.kill(id, SIGKILL) }
}
