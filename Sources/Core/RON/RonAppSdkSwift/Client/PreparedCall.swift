import Foundation

/// A validated call: its URL, its body, and its timeout.
struct PreparedCall: Sendable {
    let request: AppRequest
    let url: URL
    let body: Data?
    let accept: String
    let timeouts: Timeouts

    /// - Parameters:
    ///   - request: The request.
    ///   - url: Its URL, or why it is invalid.
    ///   - accept: The accepted content types.
    ///   - timeouts: The default timeouts.
    /// - Throws: ``LocalNetworkError`` if the request cannot be sent.
    init(
        _ request: AppRequest, url: Result<URL, LocalNetworkError>, accept: String, timeouts: Timeouts
    ) throws(LocalNetworkError) {
        self.request = request
        self.accept = accept
        var timeouts = timeouts
        if let ms = request.timeoutMs {
            guard (1...ResolvedSettings.longestTimeoutMs).contains(ms) else {
                throw LocalNetworkError(
                    code: "local_invalid_timeout",
                    message: "timeoutMs is \(ms); it has to be from 1 to \(ResolvedSettings.longestTimeoutMs)")
            }
            timeouts.overallMs = ms
        }
        self.timeouts = timeouts
        self.url = try url.get()
        body = if request.method.isWrite, let body = request.body { try RonJSON.encode(body) } else { nil }
    }

    /// The timeout of the whole call; nil for none.
    var limit: Duration? { timeouts.overallMs > 0 ? .milliseconds(timeouts.overallMs) : nil }
}
