/// The headers of one call, as they are put together: the caller's, then the provider's, then the client's own, each
/// before what was there (docs/design/ron.md, "Decisions").
struct RequestHeaders {
    /// What says where a message ends or who it is for; that is the transport's business.
    static let framing: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]
    private static let longestKey = 64
    static let longestId = 128

    /// Names as they are sent, and values, by names in lower case.
    private var fields: [String: (name: String, value: String)] = [:]

    /// Takes the headers of one source, which replace those of sources before.
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

    /// Sets one of the client's own, whose value is sound.
    mutating func set(_ name: String, _ value: String) { fields[name.lowercased()] = (name, value) }

    /// Removes one.
    mutating func remove(_ name: String) { fields[name] = nil }

    subscript(name: String) -> String? { fields[name]?.value }

    /// Ids of the caller and the provider stay; one that is missing is the other's, or a new one.
    ///
    /// - Parameter fallback: The new one.
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

    /// One key under both names, as some servers read the one and some the other.
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

    /// What is sent, sorted by name.
    var list: [(String, String)] {
        fields.sorted { $0.key < $1.key }.map { ($0.value.name, $0.value.value) }
    }

    private static func invalid(_ message: String) -> LocalNetworkError {
        LocalNetworkError(code: "local_invalid_header", message: message)
    }
}
