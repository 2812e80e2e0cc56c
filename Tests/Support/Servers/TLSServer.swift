import Foundation
import Glibc
import Platform

/// A TLS server of openssl's on loopback, with a certificate of its own making, that shows what it was sent.
package final class TLSServer {
    package let port: Int
    /// The certificate, which vouches for itself alone.
    package var certificate: BytePath { files.certificate }
    private let files: TestCertificate
    private let process: Process

    package var url: String { "https://127.0.0.1:\(port)" }

    /// - Parameter options: more of openssl's, such as `-tls1_1`; `-www` makes it answer.
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

    /// Ends it; what it has shown.
    package func end() -> String {
        // A child of a pool's thread has its signals blocked, all but this one.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let output = process.standardOutput as? Pipe
        return String(decoding: output?.fileHandleForReading.readDataToEndOfFile() ?? Data(), as: UTF8.self)
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
