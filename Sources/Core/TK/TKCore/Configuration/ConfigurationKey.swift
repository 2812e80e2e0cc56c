import Foundation
import Platform

/// Configuration keys. `api_key` is not one of them: it goes to the secret store and never into a configuration file.
public enum ConfigurationKey: String, Sendable, CaseIterable, Codable {
    case provider
    case model
    case baseURL = "base_url"
    /// US dollars per calendar month.
    case monthlyBudget = "monthly_budget"
    /// Which providers may answer if the configured one cannot: see ``FallbackPolicy``.
    case fallback
    /// Whether a server on this machine that another user runs may be asked.
    case localAllow = "local.allow"
    /// The timeout of a whole call, in seconds.
    case timeout
    /// The default advisor.
    case role
    /// Disabled rules of the quick pass, separated by commas.
    case ignoredRules = "ignored_rules"

    /// The name under which a person sets a key; not one of ``allCases``.
    public static let apiKey = "api_key"

    /// The environment variable that sets it, if any.
    public var variable: String? {
        switch self {
        case .provider: "TK_PROVIDER"
        case .model: "TK_MODEL"
        case .baseURL: "TK_BASE_URL"
        case .monthlyBudget, .fallback, .localAllow, .timeout, .role, .ignoredRules: nil
        }
    }

    /// Its purpose and its valid values, for `tk config show` and messages.
    public var help: String {
        switch self {
        case .provider: "who answers: \(Self.providers.joined(separator: ", "))"
        case .model: "the provider's name of the model"
        case .baseURL: "where the provider is, for servers of your own: https://host/path"
        case .monthlyBudget: "US dollars a month; calls stop when they are used up"
        case .fallback: "who may answer when the provider cannot: none, local, any"
        case .localAllow: "whether a model on this machine that another user runs may read drafts: yes, no"
        case .timeout: "seconds that a whole call may take, all advisors and tries together"
        case .role: "the advisor where none is named"
        case .ignoredRules: "rules of the quick pass that are off, separated by commas"
        }
    }

    /// The range of ``timeout``, in seconds.
    private static let timeouts = 1...86_400

    /// The valid values of ``provider``.
    public static let providers = ModelProvider.allCases.map(\.rawValue)

    /// The key with this name.
    ///
    /// - Throws: an error that suggests similar names.
    public static func named(_ name: String) throws -> ConfigurationKey {
        if let key = ConfigurationKey(rawValue: name) { return key }
        let known = allCases.map(\.rawValue) + [apiKey]
        throw Fault(
            .usage, "there is no setting `\(BytePath.escape(name.utf8))`; \(NearMiss.hint(for: name, among: known))")
    }

    /// The value in its stored form, if it is valid.
    ///
    /// - Throws: an error that describes the valid values.
    package func checked(_ text: String) throws -> String {
        let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
        func refuse(_ message: String) -> Fault {
            Fault(.usage, "`\(rawValue)` cannot be \"\(BytePath.escape(value.utf8))\": \(message)")
        }
        let isPlain = value.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        guard !value.isEmpty, isPlain, value.utf8.count <= 2000 else {
            throw refuse("it must be one line of text that is not empty")
        }
        switch self {
        case .provider:
            guard Self.providers.contains(value) else {
                let hint = NearMiss.hint(for: value, among: Self.providers)
                throw refuse("\(hint) (any server that speaks OpenAI's protocol is `openai` with a `base_url`)")
            }
            return value
        case .baseURL:
            guard let parts = URLComponents(string: value), ["http", "https"].contains(parts.scheme),
                let host = parts.host,
                !host.isEmpty, parts.query == nil, parts.fragment == nil
            else { throw refuse("it must be a URL like https://host/path, without ? and #") }
            guard parts.user == nil, parts.password == nil else {
                throw Fault(
                    .usage,
                    "`base_url` must not hold a user or a password; keep the key with `tk config set api_key --stdin`")
            }
            return value.hasSuffix("/") ? String(value.dropLast()) : value
        case .monthlyBudget:
            guard let number = Double(value.hasPrefix("$") ? String(value.dropFirst()) : value), number >= 0,
                number <= 1e6
            else { throw refuse("it must be an amount of US dollars from 0 to 1000000, such as 5 or 2.50") }
            return number == number.rounded() ? String(Int(number)) : String(number)
        case .fallback:
            let words = FallbackPolicy.allCases.map(\.rawValue)
            guard words.contains(value) else { throw refuse("it must be one of \(words.joined(separator: ", "))") }
            return value
        case .localAllow:
            guard ["yes", "no"].contains(value) else { throw refuse("it must be yes or no") }
            return value
        case .timeout:
            guard let seconds = Int(value), Self.timeouts.contains(seconds) else {
                throw refuse(
                    "it must be a number of seconds from \(Self.timeouts.lowerBound) to \(Self.timeouts.upperBound)")
            }
            return String(seconds)
        case .ignoredRules:
            return value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
                .joined(separator: ",")
        case .model, .role:
            return value
        }
    }

    /// Whether a project's file may set it: style and advisors only, never the destination of a text or its cost.
    package var isForProjects: Bool {
        switch self {
        case .role, .ignoredRules: true
        case .provider, .model, .baseURL, .monthlyBudget, .fallback, .localAllow, .timeout: false
        }
    }
}

/// Which providers may answer if the configured one cannot.
public enum FallbackPolicy: String, Sendable, CaseIterable, Codable {
    case none
    /// Only models on this machine: drafts never leave it unasked.
    case local
    /// Any provider that is configured or has a key.
    case any
}
