import Platform

/// Names that are never news by themselves: ``WorkNames/patterns``, plus and minus the user's own.
package struct IgnoreList: Sendable {
    private let ignored: NamePatterns
    private let kept: NamePatterns
    private static let own = NamePatterns([WorkNames.own])
    private static let litter = NamePatterns(WorkNames.litter)

    /// - Parameter extra: the user's own ``NamePatterns``. A name that matches a pattern after `!` is news whatever
    ///   else it matches, except for the agent's own names.
    package init(extra: [String] = []) {
        let isKept = { (pattern: String) in pattern.hasPrefix("!") }
        ignored = NamePatterns(WorkNames.patterns + extra.filter { !isKept($0) })
        kept = NamePatterns(extra.filter(isKept).map { String($0.dropFirst()) })
    }

    package func ignores(_ name: [UInt8]) -> Bool { pattern(ignoring: name) != nil }

    /// The pattern that makes a name ignored; nil if it is not.
    package func pattern(ignoring name: [UInt8]) -> String? {
        guard let found = ignored.first(matching: name) else { return nil }
        return kept.first(matching: name) == nil ? found : Self.own.first(matching: name)
    }

    /// Whether any part of a relative path is ignored.
    package func ignores(anyPartOf path: BytePath) -> Bool { pattern(ignoringPartOf: path) != nil }

    /// The pattern that makes a file, or a folder above it, ignored; nil if none does.
    package func pattern(ignoringPartOf path: BytePath) -> String? {
        path.components.lazy.compactMap { pattern(ignoring: Array($0)) }.first
    }

    /// Whether a person may miss a file of that name: it is ignored, but not as operating-system litter.
    package func isMissed(_ name: [UInt8]) -> Bool { ignores(name) && Self.litter.first(matching: name) == nil }
}
