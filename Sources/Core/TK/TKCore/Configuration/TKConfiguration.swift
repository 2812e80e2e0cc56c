import Foundation
import JSONText
import OwnFiles
import Platform

/// The settings in force, each with its source.
public struct TKConfiguration: Sendable, Hashable {
    /// The source of a value.
    public enum Source: Sendable, Hashable, CustomStringConvertible {
        case flag
        /// The variable's name.
        case environment(String)
        /// The file's path.
        case project(String)
        case user(String)
        case builtIn

        /// For display.
        public var description: String {
            switch self {
            case .flag: "command line"
            case .environment(let name): "environment, \(name)"
            case .project(let path), .user(let path): path
            case .builtIn: "default"
            }
        }
    }

    /// A value and its source.
    public struct Setting: Sendable, Hashable {
        /// As text, parsed by the typed properties of ``TKConfiguration``.
        public var value: String
        /// Its source.
        public var source: Source

        /// A value from a source.
        public init(value: String, source: Source) {
            self.value = value
            self.source = source
        }
    }

    /// Keys without a value are absent.
    public let settings: [ConfigurationKey: Setting]

    /// Raw settings; the typed properties supply defaults.
    public init(settings: [ConfigurationKey: Setting]) { self.settings = settings }

    /// The value of a key, or nil.
    public subscript(key: ConfigurationKey) -> String? { settings[key]?.value }

    /// The provider.
    public var provider: String { self[.provider] ?? ModelProvider.usual.rawValue }
    /// Nil if the provider has no default model: the first that its server offers.
    public var model: String? { self[.model] }
    /// The provider's server, if not the default one.
    public var baseURL: String? { self[.baseURL] }
    /// The default advisor.
    public var role: String { self[.role] ?? "general" }
    /// Nil if there is no budget.
    public var monthlyBudget: Cost? { self[.monthlyBudget].flatMap { Double($0) }.map { Cost(dollars: $0) } }
    /// Disabled rules of the quick pass.
    public var ignoredRules: Set<String> {
        Set((self[.ignoredRules] ?? "").split(separator: ",").map(String.init))
    }

    /// The timeout of a whole call: the draft's review, the council, the question.
    public var timeout: Duration { .seconds(self[.timeout].flatMap { Int($0) } ?? Self.usualTimeout) }
    static let usualTimeout = 300

    /// As configured; by default, a user of a local model stays local.
    public var fallback: FallbackPolicy {
        self[.fallback].flatMap { FallbackPolicy(rawValue: $0) }
            ?? (usesOwnModel ? .local : .any)
    }

    /// Whether a server on this machine that another user runs may be asked.
    public var allowsAnyLocalServer: Bool { self[.localAllow] == "yes" }

    /// Whether the provider's models are the user's own.
    var usesOwnModel: Bool { ModelProvider(rawValue: provider)?.isOwn ?? false }
}

/// Determines the settings in force: flags, then environment, then the project's `./.tk/config.json`, then the user's
/// `~/.tk/config.json`, then the defaults (docs/design/tk.md, "Settings"). A project's file may come with another
/// person's work: it configures how a text is read, never where it goes. Reads the files at each call; everything here
/// blocks briefly.
package struct ConfigurationStore: Sendable {
    package let home: TKHome
    private let project: BytePath
    private let environment: [String: String]
    private let defaultModels: [String: String]

    /// - Parameters:
    ///   - workingDirectory: the project's folder with `.tk/config.json`; parent folders are not searched.
    ///   - models: for the default model of a provider.
    package init(
        home: TKHome, workingDirectory: BytePath, environment: [String: String], models: ModelTable
    ) {
        self.home = home
        project = workingDirectory.appending(".tk/config.json")
        self.environment = environment
        defaultModels = models.defaults
    }

    private typealias Layer = [ConfigurationKey: TKConfiguration.Setting]

    /// - Parameter flags: from the command line; empty values count as absent.
    /// - Throws: `Fault` (`.usage`) with file and line if a file or a value is invalid.
    package func effective(flags: [ConfigurationKey: String] = [:]) throws -> TKConfiguration {
        var given: Layer = [:]
        for (key, value) in flags where !value.isEmpty {
            given[key] = .init(value: try key.checked(value), source: .flag)
        }
        var layers = [
            given, try environmentLayer(),
            try fileValues(home.configuration).mapValues {
                .init(value: $0, source: .user(home.configuration.description))
            },
            [
                .provider: .init(value: ModelProvider.usual.rawValue, source: .builtIn),
                .role: .init(value: "general", source: .builtIn), .localAllow: .init(value: "no", source: .builtIn),
                .timeout: .init(value: String(TKConfiguration.usualTimeout), source: .builtIn),
            ],
        ]
        // In the home directory the two are the same file.
        if try !isSameFile(project, home.configuration) {
            let values = try fileValues(project, isProject: true)
            layers.insert(values.mapValues { .init(value: $0, source: .project(project.description)) }, at: 2)
        }
        return TKConfiguration(settings: resolve(layers))
    }

    /// The value in force, or nil. `api_key` is refused: keys are never printed.
    package func get(_ name: String) throws -> TKConfiguration.Setting? {
        if name == ConfigurationKey.apiKey {
            throw Fault(.usage, "keys are not printed; `tk config show` says where the key in force comes from")
        }
        return try effective().settings[try ConfigurationKey.named(name)]
    }

    /// Atomically sets a value in the user's file; an empty one removes it.
    ///
    /// `api_key` goes to the secret store, for the provider in force.
    /// - Returns: the file that was written.
    package func set(_ name: String, to value: String) throws -> BytePath {
        if name == ConfigurationKey.apiKey {
            let provider = try effective().provider
            let secrets = FileSecretStore(home: home)
            if value.isEmpty {
                _ = try secrets.remove(for: provider)
            } else {
                try secrets.set(Secret(value), for: provider)
            }
            return home.secrets.appending(provider)
        }
        let key = try ConfigurationKey.named(name)
        let kept = value.isEmpty ? nil : try key.checked(value)
        return try TKFile.exclusively(in: home.folder) {
            var values = try fileValues(home.configuration)
            values[key] = kept
            try write(values)
            return home.configuration
        }
    }

    /// Creates the user's file with the defaults, unless it exists.
    ///
    /// - Returns: whether it was created.
    package func initialise() throws -> Bool {
        try TKFile.exclusively(in: home.folder) {
            if try TKFile.read(home.configuration) != nil { return false }
            var values: [ConfigurationKey: String] = [.provider: ModelProvider.usual.rawValue]
            values[.model] = defaultModels[ModelProvider.usual.rawValue]
            try write(values)
            return true
        }
    }

    // MARK: -

    /// The closest value of each key. A model and a base URL belong to the provider they were set for:
    /// `--provider openai` neither sends OpenAI's key to Anthropic's server nor asks OpenAI for Claude.
    private func resolve(_ layers: [Layer]) -> Layer {
        var found: Layer = [:]
        for key in ConfigurationKey.allCases { found[key] = layers.lazy.compactMap { $0[key] }.first }
        let provider = found[.provider]?.value ?? ""
        let chosen = layers.firstIndex { $0[.provider] != nil } ?? 0
        for key in [ConfigurationKey.model, .baseURL] {
            found[key] =
                layers.indices.lazy.compactMap { index -> TKConfiguration.Setting? in
                    guard let setting = layers[index][key] else { return nil }
                    let meant = layers[index...].lazy.compactMap { $0[.provider]?.value }.first
                    return index <= chosen || meant == provider ? setting : nil
                }.first
        }
        if found[.model] == nil, let model = defaultModels[provider] {
            found[.model] = .init(value: model, source: .builtIn)
        }
        return found
    }

    private func environmentLayer() throws -> Layer {
        var layer: Layer = [:]
        for key in ConfigurationKey.allCases {
            guard let name = key.variable, let value = environment[name], !value.isEmpty else { continue }
            do {
                layer[key] = .init(value: try key.checked(value), source: .environment(name))
            } catch let fault as Fault {
                throw Fault(.usage, "\(name): \(fault.message)")
            }
        }
        return layer
    }

    private func fileValues(_ path: BytePath, isProject: Bool = false) throws -> [ConfigurationKey: String] {
        guard let bytes = try TKFile.read(path) else { return [:] }
        do {
            let file = try JSONFile(bytes, path: path)
            if file.members[ConfigurationKey.apiKey] != nil {
                throw file.problem(
                    ConfigurationKey.apiKey,
                    "a key does not belong into this file; remove the line and keep the key with "
                        + "`tk config set api_key --stdin`")
            }
            try file.allowOnly(ConfigurationKey.allCases.map(\.rawValue))
            if isProject { try refuseDestinations(file) }
            var values: [ConfigurationKey: String] = [:]
            for key in ConfigurationKey.allCases {
                guard let text = try text(file.members[key.rawValue], key, file) else { continue }
                do {
                    values[key] = try key.checked(text)
                } catch let fault as Fault {
                    throw file.problem(key.rawValue, fault.message)
                }
            }
            return values
        } catch let problem as FileProblem {
            throw problem.fault
        }
    }

    /// An error, not a warning: ignoring `fallback: none` in a project's file would send a text further than its author
    /// wants, while an error sends nothing.
    private func refuseDestinations(_ file: JSONFile) throws {
        let wrong = ConfigurationKey.allCases.filter { key in
            switch file.members[key.rawValue] {
            case nil, .null?, .string("")?: false
            default: !key.isForProjects
            }
        }
        guard let first = wrong.first else { return }
        let others = wrong.dropFirst().map { key in
            "`\(key.rawValue)`" + (file.line(of: key.rawValue).map { " (line \($0))" } ?? "")
        }
        let allowed = ConfigurationKey.allCases.filter(\.isForProjects).map { "`\($0.rawValue)`" }
        let commands = wrong.map { "`tk config set \($0.rawValue) VALUE`" }
        throw file.problem(
            first.rawValue,
            "`\(first.rawValue)` is not taken from a project's file"
                + (others.isEmpty ? "" : ", nor " + others.joined(separator: ", nor ")) + ": it may set "
                + allowed.joined(separator: " and ") + ", and not who reads your drafts. Nothing was sent. Remove that "
                + "from the file; what you want for yourself goes into \(home.configuration): "
                + commands.joined(separator: ", "))
    }

    /// Accepts JSON numbers, lists and booleans as values.
    private func text(_ value: JSON?, _ key: ConfigurationKey, _ file: JSONFile) throws -> String? {
        if let number = value?.double {
            if key == .monthlyBudget { return String(number) }
            if key == .timeout {
                return number == number.rounded() && abs(number) < 1e9 ? String(Int(number)) : String(number)
            }
        }
        switch value {
        case nil, .null?, .string("")?: return nil
        case .string(let text)?: return text
        case .bool(let isTrue)? where key == .localAllow: return isTrue ? "yes" : "no"
        case .array? where key == .ignoredRules:
            let rules = try file.texts(key.rawValue).joined(separator: ",")
            return rules.isEmpty ? nil : rules
        case let other?: throw file.problem(key.rawValue, "`\(key.rawValue)` must be a text, not \(other.kind)")
        }
    }

    private func write(_ values: [ConfigurationKey: String]) throws {
        var object: [String: JSON] = [:]
        for (key, value) in values {
            object[key.rawValue] =
                if key == .monthlyBudget || key == .timeout, let number = Double(value) { .number(number) } else {
                    .string(value)
                }
        }
        try TKFile.replace(home.configuration, with: try JSONText.document(object), mode: 0o600)
    }

    private func isSameFile(_ one: BytePath, _ other: BytePath) throws -> Bool {
        if one == other { return true }
        guard let first = try FileStatus.of(one), let second = try FileStatus.of(other) else { return false }
        return first.inode == second.inode && first.device == second.device
    }
}
