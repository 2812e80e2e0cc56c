import Platform

/// Who can answer. One case each, so that whatever depends on it is an exhaustive `switch`: a provider that is added
/// somewhere and forgotten elsewhere does not compile.
enum ModelProvider: String, CaseIterable, Sendable {
    case anthropic, openai, ollama

    /// Where nothing is configured.
    static let usual = ModelProvider.anthropic

    /// - Throws: `Fault(.usage)` for a name that is none: a draft never goes to another provider than the one that was named.
    init(named name: String) throws {
        guard let known = ModelProvider(rawValue: name) else {
            let all = Self.allCases.map(\.rawValue)
            throw Fault(
                .usage, "there is no provider `\(BytePath.escape(name.utf8))`; \(NearMiss.hint(for: name, among: all))")
        }
        self = known
    }

    /// Whether its models are one's own: they want no key, and cost nothing.
    var isOwn: Bool {
        switch self {
        case .anthropic, .openai: false
        case .ollama: true
        }
    }
}
