/// What can go wrong between a client and a node. Each is a route, `/app/fault/NAME`, and on any other route the query
/// `fault=NAME`.
package enum WireFault: String, CaseIterable, Sendable {
    /// The answer comes `ms` milliseconds late.
    case delay
    /// No answer comes, and the connection stays open.
    case silence
    /// The connection is reset when the request is whole.
    case reset
    /// The connection is reset before the request's body is read.
    case resetEarly = "reset-early"
    /// The connection ends without an answer.
    case close
    /// The body ends in the middle, though its length was announced.
    case half
    /// The body ends in the middle of its chunks.
    case halfChunked = "half-chunked"
    /// The head comes, and the body never.
    case headOnly = "head-only"
    /// The body comes a byte every `ms` milliseconds.
    case drip
    /// 200 with HTML.
    case type
    /// 200 that calls itself JSON and is cut JSON.
    case syntax
    /// 200 with JSON of another shape.
    case shape
    /// 200 that calls itself JSON and has no body.
    case empty
    /// 302 to another path.
    case redirect
    /// 200 with a body of `bytes` bytes.
    case large
    /// What is sent is not HTTP.
    case garbage
    /// 413 in plain text, as from the gateway.
    case tooLarge = "413"
    /// 429 with `Retry-After` and `retry_after_ms`.
    case rateLimited = "429"
    /// 429 with `Retry-After` alone, in plain text.
    case rateLimitedText = "429-text"
    /// 503 in the shape that omnigate has when it sheds load.
    case overloaded = "503"
    /// The request is carried out, and its answer is lost: the connection is reset.
    case lost
}
