import Platform

extension Backoff {
    /// Between the tries of a job, and of an event that is published. The jitter keeps those that failed together from
    /// being retried together.
    package static let ofJobs = Backoff(first: .seconds(1), longest: .seconds(600), jitter: 0.2)

    /// Upper bound of such a delay, in seconds.
    static let longestOfJobs = 720.0
}
