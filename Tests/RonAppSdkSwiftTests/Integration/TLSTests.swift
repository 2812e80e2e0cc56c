import Foundation
import NIOSSL
import Platform
import RonAppSdkSwift
import TestSupport
import Testing
import ron_mock_plane

@Suite("Calls over TLS")
struct TLSTests {
    /// A plane with a certificate, and a client that trusts `roots`.
    private func withEncryptedPlane(
        names: String = "DNS:localhost,IP:127.0.0.1", trusting roots: (TestCertificate) throws -> [NIOSSLCertificate]?,
        allowInsecureHttp: Bool = false, _ body: (MockPlane, RonClient) async throws -> Void
    ) async throws {
        let files = try TestCertificate(names)
        var options = MockPlaneOptions()
        options.tls = (files.certificate, files.key)
        var encryption = TLSConfiguration.makeClientConfiguration()
        if let roots = try roots(files) { encryption.trustRoots = .certificates(roots) }
        let transport = AsyncHTTPTransport(tlsConfiguration: encryption)
        do {
            try await MockPlane.running(options) { plane in
                #expect(plane.url.hasPrefix("https://"))
                var config = patientConfig(plane.url)
                config.allowInsecureHttp = allowInsecureHttp
                config.transport = transport
                try await withClient(config) { try await body(plane, $0) }
            }
            try await transport.close()
        } catch {
            try await transport.close()
            throw error
        }
    }

    @Test("A trusted certificate needs nothing but HTTPS")
    func trusted() async throws {
        try await withEncryptedPlane(trusting: { try NIOSSLCertificate.fromPEMFile($0.certificate.text) }) {
            plane, client in
            let answer: AppResponse<PlaneGreeting> = await client.get("/hello")
            #expect(answer.ok && answer.data?.message.isEmpty == false)
            #expect(plane.requests.map(\.target) == ["/app/hello"])
        }
    }

    @Test("An untrusted certificate ends the call before anything is sent", arguments: [false, true])
    func untrusted(allowInsecureHttp: Bool) async throws {
        try await withEncryptedPlane(trusting: { _ in nil }, allowInsecureHttp: allowInsecureHttp) { plane, client in
            let answer: AppResponse<PlaneGreeting> = await client.get("/hello")
            #expect(!answer.ok && answer.status == 0)
            #expect(answer.problem?.kind == RonProblem.transportKind && answer.problem?.code == "local_network_failure")
            #expect(plane.requests.isEmpty)
        }
    }

    @Test("A certificate for another name does too")
    func otherName() async throws {
        try await withEncryptedPlane(
            names: "DNS:elsewhere.example", trusting: { try NIOSSLCertificate.fromPEMFile($0.certificate.text) }
        ) { plane, client in
            let answer: AppResponse<PlaneGreeting> = await client.get("/hello")
            #expect(!answer.ok && answer.status == 0 && plane.requests.isEmpty)
        }
    }

    @Test("Faults are the same behind TLS", arguments: [WireFault.reset, .close, .half, .garbage])
    func faults(fault: WireFault) async throws {
        try await withEncryptedPlane(trusting: { try NIOSSLCertificate.fromPEMFile($0.certificate.text) }) {
            _, client in
            let answer: AppResponse<PlaneGreeting> = await client.get("/fault/\(fault.rawValue)")
            #expect(!answer.ok && answer.status == 0 && answer.problem?.code == "local_network_failure")
            #expect(answer.problem?.retryable == true)
            let next: AppResponse<PlaneGreeting> = await client.get("/hello")
            #expect(next.ok)
        }
    }

    @Test("Plain HTTP to a TLS port is a problem, and does not hang")
    func plainToEncrypted() async throws {
        try await withEncryptedPlane(trusting: { _ in nil }) { plane, _ in
            let url = plane.url.replacing("https://", with: "http://")
            try await withClient(patientConfig(url)) { client in
                let answer: AppResponse<PlaneGreeting> = await client.get("/hello")
                #expect(!answer.ok && answer.status == 0)
            }
        }
    }
}
