import Foundation
import Glibc
import Platform

/// A TLS server of openssl's on loopback, with a certificate of its own making, that shows what it was sent.
package final class TLSServer {
    package let port: Int
    /// The certificate, which vouches for itself alone.
    package var certificate: BytePath { files.certificate }
    private let files: TestCertificate
    private let process = Process()
    private let output = Pipe()

    package var url: String { "https://127.0.0.1:\(port)" }

    /// - Parameter options: more of openssl's, such as `-tls1_1`; `-www` makes it answer.
    package init(_ options: [String] = []) throws {
        files = try TestCertificate()
        process.executableURL = URL(fileURLWithPath: TestCertificate.openssl)
        process.arguments =
            ["s_server", "-accept", "127.0.0.1:0", "-key", files.key.text, "-cert", files.certificate.text] + options
        process.standardInput = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var said = ""
        while true {
            let part = output.fileHandleForReading.availableData
            guard !part.isEmpty else { throw TestFailure("openssl s_server did not start: \(said)") }
            said += String(decoding: part, as: UTF8.self)
            guard let line = said.firstMatch(of: /ACCEPT 127\.0\.0\.1:([0-9]+)\n/), let port = Int(line.output.1)
            else { continue }
            self.port = port
            return
        }
    }

    /// Ends it; what it has shown.
    package func end() -> String {
        // A child of a pool's thread has its signals blocked, all but this one.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
