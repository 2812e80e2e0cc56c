import Platform
import TKCore

/// The tools that an agent has, as they are described to it.
enum ContextTool: String, CaseIterable, Sendable {
    case listDrafts = "list_drafts"
    case readDraft = "read_draft"
    case propose
    case comment
    case answerQuestion = "answer_question"

    struct Parameter: Sendable {
        enum Kind: String, Sendable { case string, integer }

        var name: String
        var kind = Kind.string
        var isRequired = true
        var description: String
    }

    private var description: String {
        switch self {
        case .listDrafts:
            "List the drafts, with the number of findings that wait for the writer's answer, and the stage of the text."
        case .readDraft:
            "Read a draft with its open findings: who says what about which words, and what the writer asks."
        case .propose:
            "Propose other words for a place in a draft. The draft is not changed: the writer decides about the "
                + "proposal. Propose only what a careful editor would, a few words at a time."
        case .comment: "Say something about a place in a draft, for the writer, without a proposal."
        case .answerQuestion:
            "Answer the question that the writer asks about a finding, with another proposal if you have one."
        }
    }

    private static let draft = Parameter(name: "draft", description: "The draft's path, as list_drafts gives it.")
    private static let place = [
        Parameter(
            name: "quote", description: "The words concerned, exactly as they are in the draft, and no more of them."),
        Parameter(
            name: "before", isRequired: false,
            description: "Some text right before the quote, if the same words are in several places."),
        Parameter(name: "after", isRequired: false, description: "Some text right after the quote, likewise."),
    ]

    var parameters: [Parameter] {
        switch self {
        case .listDrafts: []
        case .readDraft:
            [
                Self.draft,
                Parameter(
                    name: "from_line", kind: .integer, isRequired: false, description: "The first line, from 1."),
                Parameter(name: "to_line", kind: .integer, isRequired: false, description: "The last line."),
            ]
        case .propose:
            [Self.draft] + Self.place + [
                Parameter(
                    name: "replacement", description: "What to put in place of the quote; empty to remove it."),
                Parameter(name: "reason", description: "Why, for the writer, in a sentence."),
            ]
        case .comment:
            [Self.draft] + Self.place + [Parameter(name: "comment", description: "What you have to say.")]
        case .answerQuestion:
            [
                Self.draft, Parameter(name: "finding", description: "The finding's id, as read_draft gives it."),
                Parameter(name: "answer", description: "Your answer, for the writer."),
                Parameter(
                    name: "replacement", isRequired: false, description: "What to put in place of the finding's words."),
            ]
        }
    }

    private var isReading: Bool { self == .listDrafts || self == .readDraft }

    /// What every result of this tool has.
    private var results: [(String, JSON)] {
        switch self {
        case .listDrafts: [("drafts", ["type": "array"]), ("problems", ["type": "array"])]
        case .readDraft: [("path", ["type": "string"]), ("text", ["type": "string"]), ("findings", ["type": "array"])]
        case .propose, .comment, .answerQuestion:
            [("status", ["type": "string"]), ("message", ["type": "string"]), ("findings", ["type": "array"])]
        }
    }

    /// As `tools/list` gives it.
    var json: JSON {
        let properties = parameters.map { parameter in
            (
                parameter.name,
                ["type": .string(parameter.kind.rawValue), "description": .string(parameter.description)] as JSON
            )
        }
        return [
            "name": .string(rawValue), "description": .string(description),
            "inputSchema": [
                "type": "object", "properties": .object(properties),
                "required": .strings(parameters.filter(\.isRequired).map(\.name)), "additionalProperties": false,
            ],
            "outputSchema": [
                "type": "object", "properties": .object(results), "required": .strings(results.map(\.0)),
            ],
            "annotations": [
                "readOnlyHint": .bool(isReading), "destructiveHint": false, "idempotentHint": true,
                "openWorldHint": false,
            ],
        ]
    }
}

/// The arguments of a call, checked against the tool's parameters.
struct ToolArguments: Sendable {
    private let values: [String: JSON]

    /// - Throws: `Fault` (`.usage`) that says what is wrong.
    init(_ json: JSON?, of tool: ContextTool) throws {
        values = json?.members ?? [:]
        let parameters = tool.parameters
        if let unknown = values.keys.sorted().first(where: { name in !parameters.contains { $0.name == name } }) {
            let names = parameters.map(\.name)
            throw Fault(
                .usage,
                "\(tool.rawValue) has no argument `\(Printable.line(unknown))`; "
                    + (names.isEmpty ? "it takes none" : NearMiss.hint(for: unknown, among: names)))
        }
        for parameter in parameters {
            guard let value = values[parameter.name] else {
                guard parameter.isRequired else { continue }
                throw Fault(.usage, "\(tool.rawValue) needs the argument `\(parameter.name)`")
            }
            let isRight = parameter.kind == .string ? value.text != nil : value.integer != nil
            guard isRight else {
                let kind = parameter.kind == .string ? "a string" : "a whole number"
                throw Fault(.usage, "the argument `\(parameter.name)` is \(kind)")
            }
        }
    }

    /// Empty if it was not given.
    func text(_ name: String) -> String { values[name]?.text ?? "" }

    func optionalText(_ name: String) -> String? { values[name]?.text }
    func integer(_ name: String) -> Int? { values[name]?.integer }
}
