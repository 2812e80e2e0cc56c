import ArgumentParser
import TKCore

/// An option's value out of a few that have names; another is answered with what was meant.
enum Choice {
    /// - Throws: `ValidationError`, so that the program ends with 64.
    static func named<Value: RawRepresentable & CaseIterable>(_ text: String) throws -> Value
    where Value.RawValue == String {
        if let value = Value(rawValue: text.lowercased()) { return value }
        throw ValidationError(NearMiss.hint(for: text, among: Value.allCases.map(\.rawValue)))
    }

    static func completion<Value: RawRepresentable & CaseIterable>(_ type: Value.Type) -> CompletionKind
    where Value.RawValue == String {
        .list(type.allCases.map(\.rawValue))
    }
}

/// What the shell offers where an advisor, a story type or a setting is to be named.
enum Completions {
    static let advisors = CompletionKind.custom { _, _, _ in
        (try? Wiring().catalogue(isQuiet: true).roles.map(\.id)) ?? []
    }

    static let storyTypes = CompletionKind.custom { _, _, _ in
        (try? Wiring().catalogue(isQuiet: true).storyTypes.map(\.id)) ?? []
    }

    static let settings = CompletionKind.list(ConfigurationKey.allCases.map(\.rawValue) + [ConfigurationKey.apiKey])
    static let providers = CompletionKind.list(ConfigurationKey.providers)
}
