import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// Keys and drafts require TLS 1.2 or later.
@Suite("Encrypted connections to models", .timeLimit(.minutes(30)))
struct EncryptionTests {
    private static let key = "sk-ant-stub-4711"
    private static let certificates = "/etc/ssl/certs/ca-certificates.crt"
    /// The system's authorities can be replaced for a single program, in a private mount namespace.
    private static let mayTrust =
        FileManager.default.fileExists(atPath: certificates)
        && (try? CommandFixture().shell("unshare --map-root-user --mount true"))?.status == 0

    private let fixture: CommandFixture

    init() throws {
        fixture = try CommandFixture(variables: ["TK_API_KEY": Self.key])
        try fixture.write("draft.md", sampleDraft)
    }

    @Test("A server with only TLS 1.0 or 1.1 gets neither key nor draft", arguments: ["-tls1", "-tls1_1"])
    func old(version: String) throws {
        // By default openssl would not offer them either.
        let weak = [version, "-cipher", "DEFAULT:@SECLEVEL=0"]
        let server = try TLSServer(weak)
        for command in [["suggest", "draft.md"], ["ask", "Why?", "-f", "draft.md"]] {
            let result = try fixture.tk(command, variables: ["TK_BASE_URL": server.url])
            #expect(result.status == 1 && result.errors.contains("the server offers no TLS 1.2"), "\(result.errors)")
            #expect(result.errors.contains("nothing was sent to it"))
        }
        // It does talk to clients that accept that.
        let client = try fixture.shell(
            "(echo plain words; sleep 1) | openssl s_client -connect 127.0.0.1:\(server.port) "
                + weak.joined(separator: " ") + " 2>&1 | grep -c 'Protocol *: TLSv1\\(\\.1\\)\\?$'")
        let shown = server.end()
        #expect(client.output != "0\n" && shown.contains("plain words"), "\(client.output) \(shown)")
        #expect(!shown.contains(Self.key) && !shown.contains("utilized"))
    }

    @Test("A server with TLS 1.2 is refused only because its certificate is untrusted")
    func unknownCertificate() throws {
        let server = try TLSServer(["-tls1_2"])
        let result = try fixture.tk(["suggest", "draft.md"], variables: ["TK_BASE_URL": server.url])
        #expect(result.status == 1 && result.errors.contains("certificate verify failed"), "\(result.errors)")
        #expect(!server.end().contains(Self.key))
    }

    @Test(
        "A server with TLS 1.2 or 1.3 and a trusted certificate is asked",
        .enabled(if: mayTrust, "needs a mount namespace of its own"), arguments: ["-tls1_2", "-tls1_3"])
    func trusted(version: String) throws {
        // Its page about the connection is not a model's answer, but it has arrived.
        let server = try TLSServer([version, "-www"])
        let result = try fixture.shell(
            """
            unshare --map-root-user --mount /bin/bash -c 'mount --bind "\(server.certificate)" \
            "\(Self.certificates)" && exec "\(CommandFixture.binary)" ask Why --provider ollama \
            --base-url https://localhost:\(server.port)'
            """)
        #expect(
            result.errors.contains("localhost:\(server.port)/api/tags answered with something else than expected"),
            "\(result.errors)")
    }

    @Test("SSL_CERT_FILE and SSL_CERT_DIR set the trusted certificates", arguments: ["SSL_CERT_FILE", "SSL_CERT_DIR"])
    func ownAuthority(variable: String) throws {
        let server = try TLSServer(["-www"])
        var place = server.certificate
        if variable == "SSL_CERT_DIR" {
            let folder = fixture.home.path.appending("authorities")
            let made = try fixture.shell(
                "mkdir '\(folder)' && cp '\(server.certificate)' '\(folder)/own.pem' && openssl rehash '\(folder)'")
            try #require(made.status == 0, "\(made.errors)")
            place = folder
        }
        let asked = ["ask", "Why", "--provider", "ollama", "--base-url", "https://localhost:\(server.port)"]
        let said = "localhost:\(server.port)/api/tags answered with something else than expected"
        let refused = try fixture.tk(asked)
        #expect(refused.status == 1 && !refused.errors.contains(said), "\(refused.errors)")
        let result = try fixture.tk(asked, variables: [variable: place.text])
        #expect(result.errors.contains(said), "\(result.errors)")
    }
}
