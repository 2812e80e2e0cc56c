import Foundation
import Glibc
import Platform
import TKCore
import TestSupport
import Testing

@Suite("Connections that cannot be trusted", .timeLimit(.minutes(30)))
struct ProviderTrustTests {
    @Test("A server whose certificate nobody vouches for is told at once, without another try, and gets no key")
    func unknownCertificate() async throws {
        let server = try UntrustedServer()
        let clock = RecordingClock()
        let provider = AnthropicProvider(
            model: "claude-sonnet-5", endpoint: try ProviderFixture.endpoint(server.url),
            transport: HTTPTransport(environment: [:]), clock: clock)
        let outcome = await StreamOutcome(provider.stream(ProviderFixture.request))
        let error = try #require(outcome.llmError, "\(outcome)")
        #expect(error.kind == .network && !error.isRetryable && error.allowsFallback)
        #expect(error.message.contains("no trusted connection came about: certificate verify failed"))
        #expect(clock.pauses.isEmpty)
        #expect(!server.end().contains(ProviderFixture.key))
    }
}

/// A TLS server of openssl's, with a certificate of its own making, that shows what it was sent.
private final class UntrustedServer {
    let url: String
    private let process = Process()
    private let output = Pipe()

    init() throws {
        let folder = try TemporaryFolder("tls")
        let make = Process()
        make.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        make.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-keyout", folder.path.appending("key.pem").text,
            "-out", folder.path.appending("certificate.pem").text,
        ]
        make.standardError = FileHandle.nullDevice
        try make.run()
        make.waitUntilExit()
        process.executableURL = make.executableURL
        process.arguments = [
            "s_server", "-accept", "127.0.0.1:0", "-key", folder.path.appending("key.pem").text,
            "-cert", folder.path.appending("certificate.pem").text,
        ]
        process.standardInput = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var said = ""
        while true {
            let part = output.fileHandleForReading.availableData
            guard !part.isEmpty else { throw TestFailure("openssl s_server did not start: \(said)") }
            said += String(decoding: part, as: UTF8.self)
            guard let line = said.firstMatch(of: /ACCEPT 127\.0\.0\.1:([0-9]+)\n/) else { continue }
            url = "https://127.0.0.1:\(line.output.1)"
            return
        }
    }

    /// Ends it; what it has shown.
    func end() -> String {
        // A child of a pool's thread has its signals blocked, all but this one.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
