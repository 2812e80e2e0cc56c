import NIOSSL

/// The trusted certificate authorities: the system's, unless the environment names others, as for OpenSSL and curl.
struct Authorities: Sendable, Hashable {
    /// `SSL_CERT_FILE`: certificates in PEM, in place of the system's.
    private let file: String?
    /// `SSL_CERT_DIR`: a folder of such files, named by their hashes.
    private let folder: String?

    init(environment: [String: String]) {
        func path(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        file = path("SSL_CERT_FILE")
        folder = path("SSL_CERT_DIR")
    }

    func apply(to encryption: inout TLSConfiguration) {
        guard let first = file ?? folder else { return }
        encryption.trustRoots = .file(first)
        if file != nil, let folder { encryption.additionalTrustRoots = [.file(folder)] }
    }
}
