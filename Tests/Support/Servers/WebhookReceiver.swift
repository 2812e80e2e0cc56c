import Foundation
import Glibc
import OwnFiles
import Platform

/// The receiver of `Tests/Peers/webhook_receiver.py` in a separate process, which can be killed and restarted.
package final class WebhookReceiver {
    package let port: Int
    private let log: BytePath
    private let options: [String]
    private var process: Process

    /// - Parameters:
    ///   - folder: where it keeps received events.
    ///   - secret: for verifying signatures; nil to accept any body.
    ///   - trouble: the seed of its simulated failures; nil for none.
    package init(in folder: TemporaryFolder, secret: String? = nil, trouble: UInt32? = nil) throws {
        log = folder.path.appending("received.jsonl")
        options =
            (secret.map { ["--secret", $0] } ?? []) + (trouble.map { ["--trouble", "\($0)"] } ?? [])
        (process, port) = try Self.launch(log, 0, options)
    }

    /// Restarts it after ``kill()`` on the same port, waiting while another program uses that.
    package func restart() async throws {
        var timeout = Timeout()
        while true {
            do {
                (process, _) = try Self.launch(log, port, options)
                return
            } catch let failure as TestFailure {
                guard try await timeout.pause(milliseconds: 50) else { throw failure }
            }
        }
    }

    /// Sends SIGKILL, in the middle of whatever it is doing.
    package func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit { if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) } }

    /// The events it has accepted, in order.
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
