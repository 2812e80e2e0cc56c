import Foundation

/// The source of the current time, which tests can replace (docs/design/a4.md).
public protocol DateProvider {
    /// The current time of this provider.
    func now() -> Date
}

/// The system's clock.
public struct SystemDateProvider: DateProvider, Sendable {
    /// Creates a provider; there is nothing to configure.
    public init() {}

    /// The current time.
    public func now() -> Date { Date() }
}
