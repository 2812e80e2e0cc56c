/// Assembles the headers of one call: the caller's, then the provider's, then the client's own, each overriding the
/// earlier ones (docs/design/ron.md, "Decisions").
struct RequestHeaders {
    /// Headers for message framing and routing, which the transport sets.
    static let framing: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]
    private static let longestKey = 64
    static let longestId = 128

    /// Names as they are sent, and values, by lower-case name.
    private var fields: [String: (name: String, value: String)] = [:]

    /// Adds the headers of one source, which override those of earlier sources.
    mutating func add(_ headers: [String: String], from source: String) throws(LocalNetworkError) {
        var seen: Set<String> = []
        for (name, value) in headers {
            let key = name.lowercased()
            guard HeaderText.isName(name) else {
                throw Self.invalid("\(source) hold a name that no header may have")
            }
            guard HeaderText.isValue(value) else {
                throw Self.invalid(
                    "the value of \(name) in \(source) holds characters that no header may, or spaces at an end")
            }
            guard !Self.framing.contains(key) else {
                throw Self.invalid("\(source) hold \(name), which the transport sets itself; leave it out")
            }
            guard seen.insert(key).inserted else { throw Self.invalid("\(source) hold \(name) twice") }
            fields[key] = (name, value)
        }
    }

    /// Sets one of the client's own, whose value is valid.
    mutating func set(_ name: String, _ value: String) { fields[name.lowercased()] = (name, value) }

    /// Removes one.
    mutating func remove(_ name: String) { fields[name] = nil }

    subscript(name: String) -> String? { fields[name]?.value }

    /// Keeps ids from the caller and the provider; a missing one is copied from the other, or gets the fallback.
    ///
    /// - Parameter fallback: The new id.
    /// - Returns: The request id.
    mutating func identify(fallback: String) throws(LocalNetworkError) -> String {
        let request = self["x-request-id"] ?? self["x-correlation-id"] ?? fallback
        let correlation = self["x-correlation-id"] ?? request
        for id in [request, correlation] where !HeaderText.isVisible(id, limit: Self.longestId) {
            throw LocalNetworkError(
                code: "local_invalid_request_id",
                message: "the request id is not 1 to \(Self.longestId) visible ASCII characters; see requestIdFactory")
        }
        set("x-request-id", request)
        set("x-correlation-id", correlation)
        return request
    }

    /// One key under both names, because some servers read one and some the other.
    mutating func setIdempotencyKey(_ key: String?, factory: (@Sendable () -> String)?) throws(LocalNetworkError) {
        guard let key = key ?? self["idempotency-key"] ?? self["x-idempotency-key"] ?? factory?() else { return }
        guard HeaderText.isVisible(key, limit: Self.longestKey) else {
            throw LocalNetworkError(
                code: "local_invalid_idempotency_key",
                message: "the idempotency key is not 1 to \(Self.longestKey) visible ASCII characters")
        }
        set("Idempotency-Key", key)
        set("X-Idempotency-Key", key)
    }

    /// The headers to send, sorted by name.
    var list: [(String, String)] {
        fields.sorted { $0.key < $1.key }.map { ($0.value.name, $0.value.value) }
    }

    private static func invalid(_ message: String) -> LocalNetworkError {
        LocalNetworkError(code: "local_invalid_header", message: message)
    }
}
