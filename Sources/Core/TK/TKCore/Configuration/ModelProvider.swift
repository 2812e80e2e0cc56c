import Platform

/// The known providers. An enum, so that every dependent decision is an exhaustive `switch`: a new provider does not
/// compile until it is handled everywhere.
enum ModelProvider: String, CaseIterable, Sendable {
    case anthropic, openai, ollama

    /// The default.
    static let usual = ModelProvider.anthropic

    /// - Throws: `Fault(.usage)` for an unknown name: a draft never goes to a provider other than the named one.
    init(named name: String) throws {
        guard let known = ModelProvider(rawValue: name) else {
            let all = Self.allCases.map(\.rawValue)
            throw Fault(
                .usage, "there is no provider `\(BytePath.escape(name.utf8))`; \(NearMiss.hint(for: name, among: all))")
        }
        self = known
    }

    /// Whether its models are the user's own: they need no key, and cost nothing.
    var isOwn: Bool {
        switch self {
        case .anthropic, .openai: false
        case .ollama: true
        }
    }
}
