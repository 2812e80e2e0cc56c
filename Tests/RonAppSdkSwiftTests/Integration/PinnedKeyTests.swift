import Foundation
import NIOSSL
import Platform
import RonAppSdkSwift
import TestSupport
import Testing
import ron_mock_plane

@Suite("Pinning the keys of a node")
struct PinnedKeyTests {
    private func text(_ path: BytePath) throws -> String { try String(contentsOfFile: path.text, encoding: .utf8) }

    /// The answer of a node whose certificate is trusted anyway, and how many requests it received.
    private func call(_ pins: (TestCertificate) throws -> PinnedKeys) async throws -> (AppResponse<PlaneGreeting>, Int)
    {
        let files = try TestCertificate()
        var options = MockPlaneOptions()
        options.tls = (files.certificate, files.key)
        var encryption = TLSConfiguration.makeClientConfiguration()
        encryption.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(files.certificate.text))
        let transport = AsyncHTTPTransport(tlsConfiguration: encryption, pinnedKeys: try pins(files))
        var seen: (AppResponse<PlaneGreeting>, Int)?
        try await MockPlane.running(options) { plane in
            var config = patientConfig(plane.url)
            config.transport = transport
            try await withClient(config) { client in
                // Twice: the second call reuses the first one's connection, or opens a new one.
                _ = await client.get("/hello") as AppResponse<PlaneGreeting>
                seen = (await client.get("/hello"), plane.requests.count)
                if seen?.0.ok == false {
                    try await waitUntil("the connections have been closed") { plane.openConnections == 0 }
                }
            }
        }
        try await transport.close()
        return try #require(seen)
    }

    @Test("A node with a pinned key is called, pinned by certificate or by key")
    func pinned() async throws {
        let other = try TestCertificate()
        for pins: (TestCertificate) throws -> PinnedKeys in [
            { try PinnedKeys(certificates: text($0.certificate)) },
            { try PinnedKeys(certificates: text(other.certificate) + text($0.certificate)) },
            { try PinnedKeys(publicKeys: try publicKey(of: other) + (try publicKey(of: $0))) },
        ] {
            let (answer, requests) = try await call(pins)
            #expect(answer.ok && requests == 2, "\(String(describing: answer.problem))")
        }
    }

    @Test("A node with another key gets no request, even if its certificate is trusted")
    func otherKey() async throws {
        let other = try TestCertificate()
        let (answer, requests) = try await call { _ in try PinnedKeys(certificates: text(other.certificate)) }
        #expect(!answer.ok && answer.status == 0 && requests == 0)
        #expect(answer.problem?.code == "local_network_failure" && answer.problem?.retryable == false)
    }

    @Test("A node without TLS has no key")
    func plain() async throws {
        let files = try TestCertificate()
        let transport = AsyncHTTPTransport(pinnedKeys: try PinnedKeys(certificates: text(files.certificate)))
        try await MockPlane.running { plane in
            var config = patientConfig(plane.url)
            config.transport = transport
            try await withClient(config) { client in
                let answer: AppResponse<PlaneGreeting> = await client.get("/hello")
                #expect(!answer.ok && answer.status == 0 && answer.problem?.retryable == false)
                #expect(plane.requests.isEmpty)
            }
        }
        try await transport.close()
    }

    @Test(
        "Anything but a certificate or a key is an error",
        arguments: ["", "no PEM", "-----BEGIN PUBLIC KEY-----\nMIIB"])
    func unreadable(_ pem: String) {
        #expect(throws: SdkConfigError.self) { try PinnedKeys(certificates: pem) }
        #expect(throws: SdkConfigError.self) { try PinnedKeys(publicKeys: pem) }
    }

    private func publicKey(of files: TestCertificate) throws -> String {
        try runProgram([TestCertificate.openssl, "x509", "-in", files.certificate.text, "-pubkey", "-noout"]).check()
            .output
    }
}
