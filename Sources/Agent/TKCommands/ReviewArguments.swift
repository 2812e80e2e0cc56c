import ArgumentParser
import Foundation
import Platform
import TKCore

/// The advisors and settings shared by `suggest` and `pipe`.
struct ReviewArguments: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("One advisor (`tk roles list`).", valueName: "id"),
        completion: Completions.advisors)
    var role: String?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Several advisors, separated by commas.", valueName: "ids"),
        completion: Completions.advisors)
    var advisors: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The kind of text (`tk story-types list`), with its advisors and its readers' expectations.",
            valueName: "id"),
        completion: Completions.storyTypes)
    var storyType: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("A description of the text: a model chooses the advisors.", valueName: "text"))
    var describe: String?

    @Option(
        name: .long,
        help: "The stage of the draft: early, middle, late; by default that of its journey (`tk journey`).",
        completion: Choice.completion(DraftStage.self), transform: Choice.named)
    var stage: DraftStage?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Only these categories, separated by commas: clarity, grammar, style and so on.", valueName: "names"))
    var categories: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Only suggestions with at least this confidence, from 0 to 1.", valueName: "number"))
    var minConfidence: Double = 0

    @Option(
        name: .long,
        help: ArgumentHelp("The maximum number of suggestions per file, the most important ones.", valueName: "count"))
    var maxSuggestions: Int?

    @Option(name: .long, help: ArgumentHelp("Only suggestions in these lines: 12 or 12-30.", valueName: "lines"))
    var lines: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Rules of the quick pass to omit, separated by commas, instead of the setting ignored_rules.",
            valueName: "rules"))
    var ignore: String?

    @Flag(
        name: .long,
        help: "Also report weak words, passives and all words in no dictionary.")
    var strictStyle = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Rules to switch on by name, separated by commas: \(QuickPass.strictRules.sorted().joined(separator: ", ")).",
            valueName: "rules"))
    var rule: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The .vale.ini whose styles apply, instead of the nearest one in or above a draft's folder.",
            valueName: "file"),
        completion: .file())
    var styles: PathArgument?

    @Flag(name: .long, help: "Apply no styles of a .vale.ini.")
    var noStyles = false

    @Flag(name: .long, help: "Run only the quick pass: no model is asked, nothing leaves this machine.")
    var quick = false

    @Flag(name: .long, help: "Ask only the advisors, without the quick pass.")
    var noQuick = false

    func validate() throws {
        if role != nil, advisors != nil { throw ValidationError("give either --role or --advisors, not both") }
        if describe != nil, role != nil || advisors != nil {
            throw ValidationError("--describe chooses the advisors; omit --role and --advisors")
        }
        if quick, noQuick { throw ValidationError("--quick and --no-quick together leave nothing to do") }
        if styles != nil, noStyles { throw ValidationError("give either --styles or --no-styles, not both") }
        guard (0...1).contains(minConfidence) else { throw ValidationError("--min-confidence is a number from 0 to 1") }
        if let maxSuggestions, maxSuggestions < 1 { throw ValidationError("--max-suggestions is 1 or more") }
        _ = try chosenCategories()
        _ = try selection()
        _ = try strictRules()
    }

    func selection() throws -> LineSelection? {
        guard let lines else { return nil }
        guard let selection = LineSelection(lines) else {
            throw ValidationError("--lines is a line or a range of lines, such as 12 or 12-30")
        }
        return selection
    }

    func chosenCategories() throws -> Set<String> {
        let names = Self.list(categories).map { $0.lowercased() }
        let known = SuggestionCategory.allCases.map(\.rawValue)
        if let wrong = names.first(where: { !known.contains($0) }) {
            throw ValidationError("there is no category `\(wrong)`; \(NearMiss.hint(for: wrong, among: known))")
        }
        return Set(names)
    }

    /// The rules that the user switched on.
    ///
    /// - Throws: `ValidationError` for a rule that is always on, or unknown.
    func strictRules() throws -> Set<String> {
        if strictStyle { return QuickPass.strictRules }
        let names = Self.list(rule)
        let known = QuickPass.strictRules.sorted()
        if let wrong = names.first(where: { !known.contains($0) }) {
            throw ValidationError("--rule does not take `\(wrong)`; \(NearMiss.hint(for: wrong, among: known))")
        }
        return Set(names)
    }

    func filter() throws -> SuggestionFilter {
        SuggestionFilter(categories: try chosenCategories(), minConfidence: minConfidence, maximum: maxSuggestions)
    }

    /// The requested advisors: by flag, else by story type, else as configured.
    func named(_ catalogue: RoleCatalogue, _ configuration: TKConfiguration) throws -> [Role] {
        let storyType = try storyType.map(catalogue.storyType)
        if let role { return [try catalogue.role(role)] }
        if advisors != nil {
            let ids = Self.list(advisors)
            guard !ids.isEmpty else { throw Fault(.usage, "--advisors names nobody; separate ids with commas") }
            return try catalogue.roles(ids)
        }
        if let storyType { return try catalogue.roles(storyType.defaultAdvisors) }
        return [try catalogue.role(configuration.role)]
    }

    static func list(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
