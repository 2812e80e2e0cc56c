import Platform

/// A self-signed certificate for this machine, created by openssl in a separate folder.
package final class TestCertificate: Sendable {
    package let certificate: BytePath
    package let key: BytePath
    private let folder: TemporaryFolder

    /// - Parameter names: the subject's names.
    /// - Throws: `TestFailure` if openssl does not create it.
    package init(_ names: String = "DNS:localhost,IP:127.0.0.1") throws {
        folder = try TemporaryFolder("tls")
        certificate = folder.path.appending("certificate.pem")
        key = folder.path.appending("key.pem")
        try runProgram([
            Self.openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days",
            "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=\(names)", "-keyout", key.text, "-out",
            certificate.text,
        ]).check()
    }

    package static let openssl = "/usr/bin/openssl"
}
