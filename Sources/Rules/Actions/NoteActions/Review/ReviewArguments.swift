import FileActions
import Platform
import Rules
import TKCore

extension ReviewSettings {
    /// Validates a rule's arguments: all names must be known, and passes that ask a model need advisors.
    ///
    /// - Throws: ``ArgumentFault``.
    init(_ arguments: Arguments, _ tools: ReviewTools) throws {
        let ignored = try Self.names("ignore", arguments)
        self.init(
            passes: try Self.passes(arguments), advisors: try Self.names("advisors", arguments),
            storyType: arguments.has("story-type") ? try arguments.literal("story-type") : nil, ignored: ignored,
            strictStyle: try arguments.bool("strict-style"), longSentence: try arguments.int("long-sentence"))
        if passes.contains(.program) {
            guard arguments.has("command") else {
                throw ArgumentFault("passes", "the pass `program` needs a `command`, such as `[vale, --output=JSON]`")
            }
            program = Self.program(arguments)
        } else if let needless = arguments.given.intersection(Self.programKeys).min() {
            throw ArgumentFault(needless, "only the pass `program` runs a program: `passes: [quick, program]`")
        }
        // Load the data files only if there is something to check.
        if let storyType {
            let usual = try Self.faulting("story-type") { try tools.advisors(of: storyType) }
            if advisors.isEmpty { (advisors, followsType) = (usual, true) }
        }
        if !advisors.isEmpty {
            advisors = try Self.faulting("advisors") { try tools.team(self).advisors.map(\.id) }
        }
        if asksModel, advisors.isEmpty {
            throw ArgumentFault(
                "passes",
                "somebody has to be asked: name `advisors`, such as `[editor, academic]`, or a `story-type`")
        }
        if passes.contains(.council), !CouncilEngine.size.contains(advisors.count) {
            throw ArgumentFault(
                "passes",
                "a council has \(CouncilEngine.size.lowerBound) to \(CouncilEngine.size.upperBound) different advisors, "
                    + "not \(advisors.count)")
        }
        if !ignored.isEmpty {
            let known = try Self.faulting("ignore") { Set(try tools.quickPass().rules.map(\.id)) }
            // `Style.Rule` is a house rule of the draft's project.
            if let unknown = ignored.first(where: { !known.contains($0) && !$0.contains(".") }) {
                throw ArgumentFault(
                    "ignore",
                    "there is no rule `\(unknown)`; known are "
                        + known.sorted().map { "`\($0)`" }.joined(separator: ", "))
            }
        }
    }

    private static let programKeys = Set(["command"] + RunProgram.surroundings.map(\.name))

    /// The command and its surroundings as they are written, so that a changed rule runs the program again.
    private static func program(_ arguments: Arguments) -> String {
        programKeys.sorted().compactMap { key in
            arguments.all[key].map { argument in
                let words: [String] =
                    switch argument {
                    case .template(let template): [template.text]
                    case .templates(let templates): templates.map(\.text)
                    case .literal(let text): [text]
                    case .boolean(let truth): ["\(truth)"]
                    case .integer(let number): ["\(number)"]
                    case .duration(let seconds): ["\(seconds)"]
                    case .place(let place): [place.name]
                    case .map(let entries): entries.flatMap { [$0.name, $0.template.text] }
                    }
                return ([key] + words).joined(separator: "\u{0}")
            }
        }.joined(separator: "\u{1}")
    }

    private static func passes(_ arguments: Arguments) throws -> [Pass] {
        let names = try names("passes", arguments)
        let known = Pass.allCases.map(\.rawValue)
        for name in names where !known.contains(name) {
            throw ArgumentFault("passes", "there is no pass `\(name)`; \(NearMiss.hint(for: name, among: known))")
        }
        let passes = Pass.allCases.filter { names.contains($0.rawValue) }
        guard !passes.isEmpty else { throw ArgumentFault("passes", "at least one pass has to be named") }
        return passes
    }

    private static func faulting<R>(_ parameter: String, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let fault as Fault {
            throw ArgumentFault(parameter, fault.message)
        }
    }

    /// A list of literal names, without `{{ }}`.
    private static func names(_ parameter: String, _ arguments: Arguments) throws -> [String] {
        guard arguments.has(parameter) else { return [] }
        guard try arguments.templates(parameter).allSatisfy(\.references.isEmpty) else {
            throw ArgumentFault(parameter, "names are given as they are, without values in `{{ }}`")
        }
        return try arguments.texts(parameter, values: [:])
    }
}
