import Foundation

/// A call that has been looked through: its URL, its body, and how long it may take.
struct PreparedCall: Sendable {
    let request: AppRequest
    let url: URL
    let body: Data?
    let accept: String
    let timeouts: Timeouts

    /// - Parameters:
    ///   - request: What is to be sent.
    ///   - url: Where to, or why no URL can be made of that.
    ///   - accept: Which kinds of answer are wanted.
    ///   - timeouts: How long what may take, unless the request says otherwise.
    /// - Throws: ``LocalNetworkError`` for what cannot be sent.
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

    /// How long the whole call may take; nil for as long as it takes.
    var limit: Duration? { timeouts.overallMs > 0 ? .milliseconds(timeouts.overallMs) : nil }
}
