import Foundation
import Platform

/// A model's prices in US dollars per million tokens, and its limits.
public struct ModelEntry: Sendable, Hashable {
    /// Calls with more input than ``inputTokens`` cost more, for all their tokens.
    public struct LongCall: Sendable, Hashable {
        /// Up to this many the usual price applies.
        public var inputTokens: Int
        /// Applies to all input, including cached tokens.
        public var inputFactor: Double
        /// Applies to all output.
        public var outputFactor: Double

        /// A threshold and its two factors.
        public init(inputTokens: Int, inputFactor: Double, outputFactor: Double) {
            (self.inputTokens, self.inputFactor, self.outputFactor) = (inputTokens, inputFactor, outputFactor)
        }
    }

    /// `anthropic`, `openai` and so on.
    public var provider: String
    /// The provider's name for it.
    public var id: String
    /// For display.
    public var name: String
    /// The price per million input tokens.
    public var input: Double
    /// The price per million output tokens.
    public var output: Double
    /// Nil if the server has no cache, or its price is unknown: such tokens cost the usual price.
    public var cacheRead: Double?
    /// The price per million tokens written to the cache.
    public var cacheWrite: Double?
    /// Nil if calls of any length cost the same.
    public var above: LongCall?
    /// Tokens that fit in one call.
    public var contextTokens: Int?
    /// The maximum answer.
    public var maxOutputTokens: Int?
    /// A shorter prompt is never cached.
    public var minimumCachedTokens: Int?
    /// The day after which the server may refuse it, `2027-01-14`.
    public var retires: String?

    /// An entry with these values.
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

    /// The cost of a call, to a billionth of a dollar.
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

/// Models and prices: the built-in ones, overridden by the user's `~/.tk/models.json`, whose entries replace those of
/// the same provider and id.
public struct ModelTable: Sendable {
    /// In the order of the files.
    public let models: [ModelEntry]
    /// The default model of each provider.
    public let defaults: [String: String]
    /// The date of the built-in prices.
    public let updated: String

    private static let keys = ["updated", "defaults", "models"]
    private static let entryKeys = [
        "provider", "id", "name", "input", "output", "cacheRead", "cacheWrite", "above", "contextTokens",
        "maxOutputTokens", "minimumCachedTokens", "retires",
    ]
    /// Providers whose calls are free.
    private static let free = Set(ModelProvider.allCases.filter(\.isOwn).map(\.rawValue))

    /// A table with these contents.
    public init(models: [ModelEntry], defaults: [String: String] = [:], updated: String = "") {
        (self.models, self.defaults, self.updated) = (models, defaults, updated)
    }

    /// Blocks briefly.
    ///
    /// - Throws: `Fault` that names file and line if the user's file is broken: a wrong price is worse than none.
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

    /// The entry for a model by its requested or reported name: a dated snapshot (`claude-haiku-4-5-20251001`,
    /// `gpt-4o-2024-08-06`) has its model's entry.
    public func entry(provider: String, model: String) -> ModelEntry? {
        let own = models.filter { $0.provider == provider }
        if let exact = own.last(where: { $0.id == model }) { return exact }
        guard let plain = model.firstMatch(of: /^(.+?)(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/) else { return nil }
        return own.last { $0.id == plain.output.1 }
    }

    /// The cost of a call; nil if the price is unknown. Models on this machine are free.
    public func cost(provider: String, model: String, _ usage: LLMUsage) -> Cost? {
        if Self.free.contains(provider) { return .zero }
        return entry(provider: provider, model: model)?.cost(usage)
    }

    /// An upper estimate of a call's cost: the texts' words × 1.3, and the maximum output or, without a limit, a third
    /// of the input. Nil if the price is unknown.
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
