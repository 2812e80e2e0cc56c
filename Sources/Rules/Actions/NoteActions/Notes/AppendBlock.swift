import A4CoreSwift
import FileActions
import Foundation
import Platform
import Rules

/// Appends an anchored block to a note of the A4 vault, in place, alongside other writers.
struct AppendBlock: DecidingAction {
    static let declaration = ActionDeclaration(
        name: "append-block", summary: "Appends an anchored block under a heading of a note in the A4 vault.",
        guarantee: .exactlyOnce, work: .disk, canUndo: true, mayBeRepeated: true, takes: .both,
        parameters: [
            ParameterSpec(
                "note", .template, default: "today",
                "`today` for the daily note of the capture's own day (UTC), else a path below the vault"),
            ParameterSpec("place", .place, "the vault; needed only where there are several places of kind `notes`"),
            ParameterSpec(
                "heading", .template, default: "Captures", "the H2 above the block, added if missing"),
            ParameterSpec(
                "anchor", .template, default: "cap", "the anchor's prefix; the local time is added: `^cap-0930`"),
            ParameterSpec(
                "text", .template, required: true,
                "the block; a value is one line that is shown and does nothing (see Templates)"
            ),
            ParameterSpec(
                "at", .choice(["end-of-section", "end-of-file"]), default: "end-of-section",
                "where in the note: the end of the heading's own section, or of the file"),
            ParameterSpec(
                "unless", .template,
                "nothing is appended where this is not empty: `{{ capture.joined }}` gives the files of a folder one block"
            ),
        ],
        provides: [
            ValueSpec("block.anchor", "the anchor that the block got, without `^`; empty where there is none"),
            ValueSpec("note.path", "the note's path below the vault; empty where nothing was appended"),
        ],
        example: "append-block: { heading: Journal, anchor: jrnl, text: \"{{ file.text }}\" }")

    private let arguments: Arguments
    private let services: NoteServices
    private let target: NoteTarget

    init(_ arguments: Arguments, _ services: NoteServices) throws {
        self.arguments = arguments
        self.services = services
        target = try NoteTarget(arguments, services, of: "append-block")
        let prefix = try arguments.template("anchor")
        if prefix.references.isEmpty { try Self.check(prefix: prefix.text) }
    }

    private static func check(prefix: String) throws {
        do {
            _ = try AnchorToken(prefix: prefix, hhmm: "0000")
        } catch {
            throw ArgumentFault("anchor", String(describing: error))
        }
    }

    /// Encoded as the bare request, the format from before `unless` existed.
    enum Intent: Codable, Sendable, Equatable {
        case block(NoteRequest)
        /// Nothing to append.
        case nothing

        private enum CodingKeys: String, CodingKey { case nothing }

        init(from decoder: any Decoder) throws {
            let isNothing = try decoder.container(keyedBy: CodingKeys.self).contains(.nothing)
            self = isNothing ? .nothing : .block(try NoteRequest(from: decoder))
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .block(let request): try request.encode(to: encoder)
            case .nothing:
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(true, forKey: .nothing)
            }
        }
    }

    func intent(for input: StepInput) async throws -> Intent {
        if arguments.has("unless"), try !arguments.text("unless", values: input.values).isEmpty { return .nothing }
        return .block(try await request(for: input))
    }

    private func request(for input: StepInput) async throws -> NoteRequest {
        let date = NoteTarget.date(of: input)
        let note = try await target.note(input, date)
        let heading = try arguments.headingText("heading", values: input.values).trimmingCharacters(in: .whitespaces)
        let prefix = try arguments.lineText("anchor", values: input.values)
        let token: AnchorToken
        do {
            token = try AnchorToken(prefix: prefix, hhmm: Dates.localHHMM(from: date, zone: services.timeZone))
        } catch {
            throw Fault(.failed, "the rule \"\(input.rule)\" makes an anchor that A4 refuses: \(error)")
        }
        let files = input.files
        let starter = try await target.starter(for: note, date, files)
        let source = input.file.absolute
        let status = try await services.files.run { try files.status(source) }
        return NoteRequest(
            step: input.stepID, note: note, root: target.vault.root, heading: heading, token: token.description,
            content: try arguments.blockText("text", values: input.values),
            atEndOfFile: try arguments.choice("at") == "end-of-file", starter: starter,
            mode: status.map { $0.mode & 0o666 } ?? 0o600, order: input.arrival.nanoseconds)
    }

    static let journalsItself = true

    func work(for intent: Intent) -> any Primitive {
        switch intent {
        case .block(let request): AppendedBlock(notes: services.notes, request: request)
        case .nothing:
            NoWork(
                Receipt("appended nothing", values: ["block.anchor": .text(""), "note.path": .text("")]),
                undone: "no block had been written")
        }
    }

    var destinations: [String] { [target.vault.name] }

    func summary(of intent: Intent) -> String {
        guard case .block(let intent) = intent else { return "append nothing" }
        return "append ^\(intent.token) under \"\(intent.heading)\" to \(intent.note): \(intent.content.shown)"
    }
}
