import Foundation

/// Where a program takes "now" from, so that a test can say what time it is (docs/design/a4.md).
public protocol DateProvider {
    /// The present moment, as this provider has it.
    func now() -> Date
}

/// The system's clock.
public struct SystemDateProvider: DateProvider, Sendable {
    /// There is one clock; nothing is configured.
    public init() {}

    /// The present moment.
    public func now() -> Date { Date() }
}
