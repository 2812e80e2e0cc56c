import Foundation
import JSONText
import Platform

/// What is known of one model: prices in US dollars for a million tokens, and limits.
public struct ModelEntry: Sendable, Hashable {
    /// Calls that read more than ``inputTokens`` cost more, as a whole.
    public struct LongCall: Sendable, Hashable {
        /// Up to so many the call costs what others do.
        public var inputTokens: Int
        /// On everything that is read, the cache's tokens with it.
        public var inputFactor: Double
        /// On everything that is written.
        public var outputFactor: Double

        /// A bound and its two factors.
        public init(inputTokens: Int, inputFactor: Double, outputFactor: Double) {
            self.inputTokens = inputTokens
            self.inputFactor = inputFactor
            self.outputFactor = outputFactor
        }
    }

    /// `anthropic`, `openai` and so on.
    public var provider: String
    /// As the provider names it.
    public var id: String
    /// For people.
    public var name: String
    /// What a million tokens that are read cost.
    public var input: Double
    /// What a million tokens that are written cost.
    public var output: Double
    /// Nil where the server has no cache, or its price is not known: such tokens cost what others do.
    public var cacheRead: Double?
    /// What a million tokens that are written to the cache cost.
    public var cacheWrite: Double?
    /// Nil where calls of any length cost the same.
    public var above: LongCall?
    /// What fits into one call.
    public var contextTokens: Int?
    /// The longest answer.
    public var maxOutputTokens: Int?
    /// A shorter prompt is not cached, whatever is asked.
    public var minimumCachedTokens: Int?
    /// The day after which the server may refuse it, `2027-01-14`.
    public var retires: String?

    /// An entry as it is given.
    public init(
        provider: String, id: String, name: String, input: Double, output: Double, cacheRead: Double? = nil,
        cacheWrite: Double? = nil, above: LongCall? = nil, contextTokens: Int? = nil, maxOutputTokens: Int? = nil,
        minimumCachedTokens: Int? = nil, retires: String? = nil
    ) {
        self.provider = provider
        self.id = id
        self.name = name
        self.input = input
        self.output = output
        self.cacheRead = cacheRead
        self.cacheWrite = cacheWrite
        self.above = above
        self.contextTokens = contextTokens
        self.maxOutputTokens = maxOutputTokens
        self.minimumCachedTokens = minimumCachedTokens
        self.retires = retires
    }

    /// What a call cost, to a billionth of a dollar.
    public func cost(_ usage: LLMUsage) -> Cost {
        let isLong = above.map { usage.totalInputTokens > $0.inputTokens } ?? false
        let inputFactor = isLong ? above?.inputFactor ?? 1 : 1
        let outputFactor = isLong ? above?.outputFactor ?? 1 : 1
        let read =
            Double(usage.inputTokens) * input + Double(usage.cacheReadTokens) * (cacheRead ?? input)
            + Double(usage.cacheWriteTokens) * (cacheWrite ?? input)
        let written = Double(usage.outputTokens) * output
        return Cost(dollars: (read * inputFactor + written * outputFactor) / 1e6)
    }
}

/// Models and prices: those that come with the program, and over them the user's `~/.tk/models.json`, whose entries
/// replace those of the same provider and id.
public struct ModelTable: Sendable {
    /// In the order of the files.
    public let models: [ModelEntry]
    /// The model for a provider for which none is configured.
    public let defaults: [String: String]
    /// The day of the built-in prices.
    public let updated: String

    private static let keys = ["updated", "defaults", "models"]
    private static let entryKeys = [
        "provider", "id", "name", "input", "output", "cacheRead", "cacheWrite", "above", "contextTokens",
        "maxOutputTokens", "minimumCachedTokens", "retires",
    ]
    /// Providers whose calls cost nothing.
    private static let free = Set(ModelProvider.allCases.filter(\.isOwn).map(\.rawValue))

    /// A table of what is given.
    public init(models: [ModelEntry], defaults: [String: String] = [:], updated: String = "") {
        self.models = models
        self.defaults = defaults
        self.updated = updated
    }

    /// Blocks for a moment.
    ///
    /// - Throws: `Fault` that names file and line where the user's file is broken: a wrong price is worse than none.
    package static func load(_ resources: TKResources, user: BytePath? = nil) throws -> ModelTable {
        let path = resources.folder.appending("models.json")
        do {
            let base = try read(try resources.read("models.json"), path)
            guard let user, let bytes = try TKFile.read(user) else { return base }
            return base.replacing(with: try read(bytes, user))
        } catch let problem as FileProblem {
            throw problem.fault
        }
    }

    func replacing(with user: ModelTable) -> ModelTable {
        let replaced = models.map { old in user.models.last { $0.provider == old.provider && $0.id == old.id } ?? old }
        let added = user.models.filter { new in !models.contains { $0.provider == new.provider && $0.id == new.id } }
        return ModelTable(
            models: replaced + added, defaults: defaults.merging(user.defaults) { $1 },
            updated: user.updated.isEmpty ? updated : user.updated)
    }

    /// The entry for a model as it was asked for, or as a server names it: a dated snapshot
    /// (`claude-haiku-4-5-20251001`, `gpt-4o-2024-08-06`) is its model.
    public func entry(provider: String, model: String) -> ModelEntry? {
        let own = models.filter { $0.provider == provider }
        if let exact = own.last(where: { $0.id == model }) { return exact }
        guard let plain = model.firstMatch(of: /^(.+?)(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/) else { return nil }
        return own.last { $0.id == plain.output.1 }
    }

    /// What a call cost; nil where the price is not known. Models on this machine cost nothing.
    public func cost(provider: String, model: String, _ usage: LLMUsage) -> Cost? {
        if Self.free.contains(provider) { return .zero }
        return entry(provider: provider, model: model)?.cost(usage)
    }

    /// What a call will cost at most, guessed before it is made: the texts' words × 1.3, and as much output as is
    /// allowed
    /// or, without that, as much as a third of what is read. Nil where the price is not known.
    public func estimate(provider: String, model: String, texts: [String], maxOutputTokens: Int? = nil) -> Cost? {
        let read = texts.reduce(0) { $0 + TokenEstimate.tokens($1) }
        let usage = LLMUsage(inputTokens: read, outputTokens: maxOutputTokens ?? (read + 2) / 3)
        return cost(provider: provider, model: model, usage)
    }

    private static func read(_ bytes: [UInt8], _ path: BytePath) throws -> ModelTable {
        let file = try JSONFile(bytes, path: path)
        try file.allowOnly(keys)
        var defaults: [String: String] = [:]
        switch file.members["defaults"] {
        case nil: break
        case .object(let members)?:
            for (provider, value) in members {
                guard case .string(let model) = value else {
                    throw file.problem("defaults", "`defaults` must give each provider the name of a model")
                }
                defaults[provider] = model
            }
        case let other?: throw file.problem("defaults", "`defaults` must be an object, not \(other.kind)")
        }
        var models: [ModelEntry] = []
        switch file.members["models"] {
        case nil: break
        case .array(let values)?: models = try values.map { try entry($0, file) }
        case let other?: throw file.problem("models", "`models` must be a list, not \(other.kind)")
        }
        return ModelTable(models: models, defaults: defaults, updated: try file.text("updated") ?? "")
    }

    private static func entry(_ value: JSON, _ file: JSONFile) throws -> ModelEntry {
        guard let members = value.members else {
            throw file.problem("models", "`models` must hold objects, and holds \(value.kind)")
        }
        guard case .string(let id)? = members["id"], case .string(let provider)? = members["provider"] else {
            throw file.problem("models", "each model needs a `provider` and an `id`, which are texts")
        }
        func complain(_ message: String) -> FileProblem {
            FileProblem(path: file.path, line: file.line(holding: "\"\(id)\""), message: "model `\(id)`: \(message)")
        }
        for key in members.keys.sorted() where !entryKeys.contains(key) {
            throw complain("unknown key `\(BytePath.escape(key.utf8))`; \(NearMiss.hint(for: key, among: entryKeys))")
        }
        func amount(_ members: [String: JSON], _ key: String) throws -> Double? {
            switch members[key] {
            case nil, .null?: return nil
            case let value?:
                guard let number = value.double, number >= 0, number <= 1e9 else {
                    throw complain("`\(key)` must be a number from 0 to a milliard")
                }
                return number
            }
        }
        func text(_ key: String) throws -> String? {
            switch members[key] {
            case nil, .null?: return nil
            case .string(let value)?: return value
            case let other?: throw complain("`\(key)` must be a text, not \(other.kind)")
            }
        }
        guard let input = try amount(members, "input"), let output = try amount(members, "output") else {
            throw complain("`input` and `output` are needed: US dollars for a million tokens")
        }
        var above: ModelEntry.LongCall?
        switch members["above"] {
        case nil, .null?: break
        case let value?:
            guard let long = value.members, let tokens = try amount(long, "inputTokens") else {
                throw complain("`above` must hold `inputTokens`, `inputFactor` and `outputFactor`")
            }
            above = ModelEntry.LongCall(
                inputTokens: Int(tokens), inputFactor: try amount(long, "inputFactor") ?? 1,
                outputFactor: try amount(long, "outputFactor") ?? 1)
        }
        return ModelEntry(
            provider: provider, id: id, name: try text("name") ?? id, input: input, output: output,
            cacheRead: try amount(members, "cacheRead"), cacheWrite: try amount(members, "cacheWrite"), above: above,
            contextTokens: try amount(members, "contextTokens").map { Int($0) },
            maxOutputTokens: try amount(members, "maxOutputTokens").map { Int($0) },
            minimumCachedTokens: try amount(members, "minimumCachedTokens").map { Int($0) },
            retires: try text("retires"))
    }
}
