import Foundation
import Platform
import Rules
import TestSupport

/// Three small actions that only read their arguments, so that rule files have something to name.
struct Said: Codable, Sendable { let text: String }

protocol Saying: RuleAction where Intent == Said {}

extension Saying {
    func perform(_ intent: Said, _ context: StepContext) async throws -> Receipt { Receipt(intent.text) }
    func recover(_ intent: Said, _ context: StepContext) async throws -> Recovery { .notDone }
    func summary(of intent: Said) -> String { intent.text }
}

struct AppendBlock: Saying {
    static let declaration = ActionDeclaration(
        name: "append-block", summary: "Adds a block to a note.", guarantee: .exactlyOnce, work: .disk, canUndo: true,
        mayBeRepeated: true, takes: .both,
        parameters: [
            ParameterSpec("text", .template, required: true, "The block's text."),
            ParameterSpec("note", .template, "The note."),
            ParameterSpec("place", .place, default: "notes", "The place of the note."),
            ParameterSpec("heading", .template, default: "Log of {{ host }}", "The heading."),
            ParameterSpec("exists", .choice(["rename", "skip"]), default: "rename", "What if it is there."),
            ParameterSpec("limit", .integer(1...9), "How many."),
            ParameterSpec("wait", .duration, default: "30s", "How long."),
            ParameterSpec("quiet", .boolean, default: "false", "Whether to be quiet."),
            ParameterSpec("tags", .templateList, "Tags."),
            ParameterSpec("set", .templateMap, "Front matter to set."),
            ParameterSpec("device", .literal, "The device."),
        ],
        provides: [ValueSpec("block.anchor", "The new anchor."), ValueSpec("note.path", "The note's path.")],
        example: "- append-block: { text: \"{{ file.name }}\", heading: Files }")

    let arguments: Arguments

    func intent(for input: StepInput) async throws -> Said {
        Said(text: try arguments.text("text", values: input.values))
    }
}

struct ImportComic: Saying {
    static let declaration = ActionDeclaration(
        name: "import-comic", summary: "Imports a comic.", guarantee: .exactlyOnce, work: .cpu, canUndo: true,
        parameters: [ParameterSpec("into", .literal, default: "main", "The vault.")],
        provides: [ValueSpec("comic.title", "The title."), ValueSpec("comic.pages", "How many pages.")],
        example: "- import-comic: { into: main }")

    init(_ arguments: Arguments) throws {
        if try arguments.literal("into") == "nowhere" {
            throw ArgumentFault("into", "there is no vault `nowhere`", isLack: true)
        }
    }

    func intent(for input: StepInput) async throws -> Said { Said(text: "import") }
}

struct Move: Saying {
    static let declaration = ActionDeclaration(
        name: "move", summary: "Moves the file.", guarantee: .exactlyOnce, work: .disk, canUndo: true,
        parameters: [ParameterSpec("to", .place, required: true, "Where to.")], example: "- move: { to: drafts }")

    func intent(for input: StepInput) async throws -> Said { Said(text: "move") }
}

struct Trash: Saying {
    static let declaration = ActionDeclaration(
        name: "trash", summary: "Puts the file into the trash.", guarantee: .atMostOnce, work: .disk, canUndo: true,
        takes: .both,
        parameters: [], example: "- trash")

    func intent(for input: StepInput) async throws -> Said { Said(text: "trash") }
}

let registry = ActionRegistry([
    ForEach.definition,
    ActionDefinition(AppendBlock.self) { AppendBlock(arguments: $0) },
    ActionDefinition(ImportComic.self) { try ImportComic($0) },
    ActionDefinition(Move.self) { _ in Move() }, ActionDefinition(Trash.self) { _ in Trash() },
])

let utc = Zone.gmt

/// Places with their roots in `root`.
func places(in root: BytePath = "/places") -> [PlaceInfo] {
    [("notes", PlaceKind.notes), ("drafts", .drafts), ("comics", .inbox), ("dropbox", .dropbox), ("other", .folder)].map
    {
        PlaceInfo(name: $0.0, kind: $0.1, root: root.appending($0.0))
    }
}

/// Reads one rule file's text.
func parse(_ text: String, places known: [PlaceInfo] = places()) -> ([Rule], [Diagnostic]) {
    RuleDirectories.parse(
        file: "rules.d/10-x.yaml", bytes: Array(text.utf8), registry: registry, places: known, timeZone: utc)
}

/// The rules of a valid text.
func rules(_ text: String, places known: [PlaceInfo] = places()) throws -> [Rule] {
    let (rules, diagnostics) = parse(text, places: known)
    if diagnostics.hasErrors { throw Fault(.usage, diagnostics.map(\.description).joined(separator: "\n")) }
    return rules
}

/// `LINE:COLUMN MESSAGE` of each complaint.
func complaints(_ text: String) -> [String] {
    parse(text).1.map { "\($0.line):\($0.column) \($0.message)" + ($0.hint.map { "; \($0)" } ?? "") }
}

/// The only rule of a text with this `where`.
func rule(where condition: String, in place: String = "other", places known: [PlaceInfo] = places()) throws -> Rule {
    let indented = condition.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n")
    let text = "- rule: R\n  in: \(place)\n  where:\n\(indented)\n  do: [trash]\n"
    guard let rule = try rules(text, places: known).first else { throw Fault(.usage, "no rule") }
    return rule
}
