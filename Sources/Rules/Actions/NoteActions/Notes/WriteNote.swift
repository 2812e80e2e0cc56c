import A4CoreSwift
import FileActions
import Foundation
import Glibc
import Platform
import Rules

/// Writes a new Markdown file into a place.
struct WriteNote: DecidingAction {
    struct Intent: Codable, Sendable, Equatable {
        let destination: Destination
        let text: IntentText
        let hash: ContentHash
        /// Permissions of the source file.
        var mode: mode_t?
    }

    static let declaration = ActionDeclaration(
        name: "write-note", summary: "Writes a new Markdown file into a place.", guarantee: .exactlyOnce, work: .disk,
        canUndo: true, mayBeRepeated: true, takes: .both,
        parameters: [
            ParameterSpec("place", .place, required: true, "the place to write it in"),
            DestinationParameters.folder,
            ParameterSpec(
                "name", .template, required: true, "the file's name; `.md` is added where it has no extension"),
            ParameterSpec(
                "text", .template, required: true,
                "the content; a value is one line that is shown and does nothing (see Templates); `{{ file.text | raw }}` inserts text of several lines as it is"
            ),
            ExistsPolicy.parameter,
        ],
        provides: PlacementValues.specs,
        example:
            "write-note: { place: notes, folder: sources, name: \"{{ file.stem | slug }}\", text: \"# {{ file.title }}\\n\" }"
    )

    private static let suffix = ".md"

    private let arguments: Arguments
    private let services: NoteServices

    init(_ arguments: Arguments, _ services: NoteServices) throws {
        try arguments.checkDestination(addingTo: Self.suffix)
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        var text = try arguments.fileText("text", values: input.values)
        // As A4 writes: LF only, with one at the end.
        text = text.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\r", with: "\n")
        if !text.hasSuffix("\n") { text += "\n" }
        var name = try arguments.name(input)
        if BytePath(bytes: name).stemAndExtension.extension == nil { name += Array(Self.suffix.utf8) }
        let hash = ContentHash(of: Array(text.utf8))
        // Never readable by more users than the source.
        let (files, source) = (input.files, input.file.absolute)
        let status = try await services.files.run { try files.status(source) }
        let destination = try await Destination.decide(
            root: arguments.root(input), folder: arguments.folder(input), name: name,
            isFixed: arguments.fixedParts(), exists: arguments.choice("exists", as: ExistsPolicy.self), content: hash,
            size: Int64(text.utf8.count), pool: services.files, files: input.files)
        return Intent(
            destination: destination, text: IntentText(text), hash: hash, mode: status.map { $0.mode & 0o666 } ?? 0o600)
    }

    func summary(of intent: Intent) -> String {
        "write \(intent.destination.target) (\(intent.text.shown.utf8.count) bytes)"
    }

    func work(for intent: Intent) -> any Primitive {
        Placing(services: services.placing, destination: intent.destination, content: intent.hash) {
            try $1.create(
                Array(try intent.text.text().utf8), at: $0.names, mode: 0o644 & (intent.mode ?? 0o644),
                clear: $0.clear, record: $0.record)
        } receipt: { placed in
            Receipt(
                "wrote \(placed.path)", values: PlacementValues.of(placed.path),
                effects: [.created(placed.path, placed.fingerprint, placed.hash)])
        } skipped: {
            Receipt(
                "wrote nothing: \(intent.destination.there) is there already",
                values: PlacementValues.of(intent.destination.there))
        }
    }
}
