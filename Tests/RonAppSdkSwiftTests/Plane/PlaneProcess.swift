import Foundation
import Glibc
import Platform
import Synchronization
import TestSupport

/// The built `ron-mock-plane` in a process of its own, which can be killed.
final class PlaneProcess: Sendable {
    let url: String
    private let id: pid_t

    /// Starts it at a free port, and waits until it listens.
    ///
    /// - Parameter arguments: besides the port.
    init(_ arguments: [String]) async throws {
        guard let program = Built.program("ron-mock-plane") else { throw TestFailure("ron-mock-plane was not built") }
        (url, id) = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try Self.start(program, arguments) })
            }
        }
    }

    private static func start(_ program: BytePath, _ arguments: [String]) throws -> (String, pid_t) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program.text)
        process.arguments = ["--port", "0"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var said = ""
        while true {
            let part = output.fileHandleForReading.availableData
            guard !part.isEmpty else { throw TestFailure("ron-mock-plane did not start: \(said)") }
            said += String(decoding: part, as: UTF8.self)
            guard let line = said.firstMatch(of: /listens at (\S+)\n/) else { continue }
            return (String(line.output.1), process.processIdentifier)
        }
    }

    /// SIGKILL; nothing of it is left when this returns.
    func kill() async throws {
        Glibc.kill(id, SIGKILL)
        try await waitUntil("the killed plane is gone") { Glibc.kill(id, 0) != 0 }
    }

    deinit { Glibc.kill(id, SIGKILL) }
}
