/// The backoff between retries: doubled each time, up to ten minutes.
struct Pauses {
    private var following: Duration

    init(_ first: Duration) { following = first }

    mutating func next() -> Duration {
        defer { following = min(following * 2, .seconds(600)) }
        return following
    }
}
