import ArgumentParser
import TKCore

/// Parses an option with a few named values; an unknown value gets a suggestion.
enum Choice {
    /// - Throws: `ValidationError`, so that the program exits with 64.
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

/// Shell completions for advisors, story types and settings.
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
