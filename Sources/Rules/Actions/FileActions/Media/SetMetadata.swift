import Platform
import Rules
import Sandbox

/// Sets the tags of an audio file: makes a changed copy, reads it back, and swaps it with the file.
struct SetMetadata: DecidingAction {
    struct Intent: Codable, Sendable, Equatable {
        /// The version to replace, and where to keep it.
        let replaced: ReplacedVersion
        /// By name; an empty value removes the tag.
        let tags: [String: String]

        var named: [MediaTag: String] {
            Dictionary(
                uniqueKeysWithValues: tags.compactMap { name, value in MediaTag(rawValue: name).map { ($0, value) } })
        }
    }

    static let declaration = ActionDeclaration(
        name: "set-metadata",
        summary:
            "Sets title, artist and the like in the tags of a file of sound: MP3, FLAC, Ogg, Opus, M4A, WAV and their like. "
            + "What is not named stays as it is, pictures too; an empty text takes a tag away. A changed copy is made in a "
            + "locked-down process, read back, and put in the place of the file in one step, if that is still what was "
            + "judged; the previous version goes to the trash, from which undo brings it back.",
        guarantee: .exactlyOnce, work: .disk, canUndo: true,
        parameters: [
            ParameterSpec("title", .template, "the title"),
            ParameterSpec("artist", .template, "the artist"),
            ParameterSpec("album", .template, "the album"),
            ParameterSpec("albumArtist", .template, "the artist of the whole album"),
            ParameterSpec("track", .template, "the number on the album"),
            ParameterSpec("year", .template, "the year"),
            ParameterSpec("genre", .template, "the genre"),
            ParameterSpec("comment", .template, "a comment"),
        ],
        example: "set-metadata: { artist: \"{{ file.folder }}\", title: \"{{ file.stem }}\", year: \"2026\" }")

    private let arguments: Arguments
    private let services: MediaServices

    init(_ arguments: Arguments, _ services: MediaServices) throws {
        guard MediaTag.allCases.contains(where: { arguments.has($0.rawValue) }) else {
            throw ArgumentFault("title", "`set-metadata` needs a tag to set: a `title`, `artist`, `album` or another")
        }
        for tag in MediaTag.allCases where arguments.has(tag.rawValue) {
            guard try arguments.template(tag.rawValue).references.isEmpty else { continue }
            if let complaint = Self.complaint(try Self.value(tag, arguments, [:]), tag) {
                throw ArgumentFault(tag.rawValue, complaint)
            }
        }
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        var tags: [String: String] = [:]
        for tag in MediaTag.allCases where arguments.has(tag.rawValue) {
            let value = try Self.value(tag, arguments, input.values)
            if let complaint = Self.complaint(value, tag) {
                throw Fault(.refused, "`\(tag.rawValue)`: \(complaint)", path: input.file.absolute)
            }
            tags[tag.rawValue] = value
        }
        let trash = services.trash
        return Intent(
            replaced: try await services.pool.run { try ReplacedVersion(of: input, in: trash) }, tags: tags)
    }

    func work(for intent: Intent) -> any Primitive {
        let services = services
        return FileRewrite(
            intent.replaced, services.placing, on: services.pool,
            summary: "set \(Self.shown(intent)) of \(intent.replaced.path)"
        ) { old, put in
            try services.worker().retag(intent.named, in: old).write(from: old, put)
        } verify: { old, new in
            try Self.verify(new, old, intent.named, services.worker())
        }
    }

    func summary(of intent: Intent) -> String { "set \(Self.shown(intent)) of \(intent.replaced.path)" }

    // MARK: - Tag values

    /// One line with single blanks, in the form in which it is read back.
    private static func value(_ tag: MediaTag, _ arguments: Arguments, _ values: Values) throws -> String {
        let text = try arguments.lineText(tag.rawValue, values: values)
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return tag.isNumber ? String(line.drop { $0 == "0" }) : line
    }

    private static func complaint(_ value: String, _ tag: MediaTag) -> String? {
        if tag.isNumber {
            let isNumber = value.isEmpty || value.count <= 4 && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
            return isNumber ? nil : "\"\(BytePath.escape(Array(value.utf8)))\" is no number"
        }
        guard value.utf8.count <= ContentRecord.fieldLength else {
            return "a tag may have \(ContentRecord.fieldLength) bytes, and this has \(value.utf8.count)"
        }
        return nil
    }

    private static func shown(_ intent: Intent) -> String {
        intent.tags.sorted { $0.key < $1.key }.map { "\($0.key) \"\($0.value)\"" }.joined(separator: ", ")
    }

    /// The copy must have the requested tags and the same duration.
    private static func verify(
        _ new: Descriptor, _ old: Descriptor, _ tags: [MediaTag: String], _ worker: ContentWorker
    ) throws {
        let before = try worker.look(.media, in: old, mime: "")
        let after = try worker.look(.media, in: new, mime: "")
        if let trouble = after.trouble {
            throw Fault(.refused, "the tags of \(old.path) cannot be set: \(trouble)", path: old.path)
        }
        for (tag, value) in tags.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where (after.fields[tag.field] ?? "") != value {
            throw Fault(
                .refused, "a file such as \(old.path) does not keep \(tag.rawValue) \"\(value)\"; it was left as it is",
                path: old.path)
        }
        guard before.fields[.mediaDuration] == after.fields[.mediaDuration] else {
            throw Fault(
                .refused, "with other tags \(old.path) would no longer be as long as it is; it was left as it is",
                path: old.path)
        }
    }
}
