/// Possible faults between a client and a node. Each is available as a route, `/app/fault/NAME`, and on any other route
/// as the query `fault=NAME`.
package enum WireFault: String, CaseIterable, Sendable {
    /// The answer is `ms` milliseconds late.
    case delay
    /// There is no answer, and the connection stays open.
    case silence
    /// The connection is reset once the request is complete.
    case reset
    /// The connection is reset before the request's body is read.
    case resetEarly = "reset-early"
    /// The connection is closed without an answer.
    case close
    /// The body is shorter than its announced length.
    case half
    /// A chunked body ends early.
    case halfChunked = "half-chunked"
    /// The head arrives, but never the body.
    case headOnly = "head-only"
    /// The body arrives at one byte per `ms` milliseconds.
    case drip
    /// 200 with HTML.
    case type
    /// 200 with truncated JSON.
    case syntax
    /// 200 with JSON of another shape.
    case shape
    /// 200 with the content type of JSON and an empty body.
    case empty
    /// 302 to another path.
    case redirect
    /// 200 with a body of `bytes` bytes.
    case large
    /// The response is not HTTP.
    case garbage
    /// 413 in plain text, like the gateway's.
    case tooLarge = "413"
    /// 429 with `Retry-After` and `retry_after_ms`.
    case rateLimited = "429"
    /// 429 with only `Retry-After`, in plain text.
    case rateLimitedText = "429-text"
    /// 503 in the shape that omnigate uses when it sheds load.
    case overloaded = "503"
    /// The request takes effect, but its answer is lost: the connection is reset.
    case lost
}
