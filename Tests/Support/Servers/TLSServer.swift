import Foundation
import Glibc
import Platform

/// A TLS server (openssl) on loopback with its own certificate; it shows what it was sent.
package final class TLSServer {
    package let port: Int
    /// The self-signed certificate.
    package var certificate: BytePath { files.certificate }
    private let files: TestCertificate
    private let process: Process

    package var url: String { "https://127.0.0.1:\(port)" }

    /// - Parameter options: additional options for openssl, such as `-tls1_1`; `-www` makes it answer.
    package init(_ options: [String] = []) throws {
        files = try TestCertificate()
        process = Process(
            [
                TestCertificate.openssl, "s_server", "-accept", "127.0.0.1:0", "-key", files.key.text,
                "-cert", files.certificate.text,
            ] + options)
        process.standardInput = Pipe()
        process.standardError = FileHandle.nullDevice
        port = try process.run { $0.firstMatch(of: /ACCEPT 127\.0\.0\.1:([0-9]+)\n/).flatMap { Int($0.output.1) } }
    }

    /// Ends it; returns its output.
    package func end() -> String {
        // A child started from a pool thread has all signals blocked except this one.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let output = process.standardOutput as? Pipe
        return String(decoding: output?.fileHandleForReading.readDataToEndOfFile() ?? Data(), as: UTF8.self)
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
