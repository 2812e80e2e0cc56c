import Foundation
import Glibc
import OwnFiles
import Platform

/// The receiver of `Tests/Peers/webhook_receiver.py` in a process of its own, which may be killed and started again.
package final class WebhookReceiver {
    package let port: Int
    private let log: BytePath
    private let options: [String]
    private var process: Process

    /// - Parameters:
    ///   - folder: where it keeps what it has taken.
    ///   - secret: that bodies have to be signed with; nil to take any.
    ///   - trouble: the seed of the bad days that it has; nil for none.
    package init(in folder: TemporaryFolder, secret: String? = nil, trouble: UInt32? = nil) throws {
        log = folder.path.appending("received.jsonl")
        options =
            (secret.map { ["--secret", $0] } ?? []) + (trouble.map { ["--trouble", "\($0)"] } ?? [])
        (process, port) = try Self.launch(log, 0, options)
    }

    /// Starts it again after ``kill()``, at the same port, for which it waits where another program was given it meanwhile.
    package func restart() async throws {
        var patience = Patience()
        while true {
            do {
                (process, _) = try Self.launch(log, port, options)
                return
            } catch let failure as TestFailure {
                guard try await patience.pause(milliseconds: 50) else { throw failure }
            }
        }
    }

    /// SIGKILL, in the midst of whatever it does.
    package func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit { if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) } }

    /// The events that it has taken, in the order in which it took them.
    package func taken() throws -> [Answer] {
        guard try FileStatus.of(log) != nil else { return [] }
        let text = String(decoding: try Descriptor(log).readAll(), as: UTF8.self)
        return try text.split(separator: "\n").map { try Answer(parsing: String($0)) }
    }

    private static func launch(_ log: BytePath, _ port: Int, _ options: [String]) throws -> (Process, Int) {
        let script = Checkout.root.appending("Tests/Peers/webhook_receiver.py").text
        let process = Process(["/usr/bin/python3", script, "--port", "\(port)", "--log", log.text] + options)
        return (process, try process.runUntilNumber())
    }
}
