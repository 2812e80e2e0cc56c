import FilePlacing
import Foundation
import Glibc
import Platform
import Rules

/// Sets tags as file managers do: the extended attribute `user.xdg.tags`, separated by commas.
struct TagFile: RuleAction {
    struct Intent: Codable, Sendable, Equatable {
        let file: BytePath
        let hash: ContentHash
        /// Of the file that was judged; nil in intents of old.
        var fingerprint: Fingerprint?
        /// As in ``JudgedContent``.
        var identity: FileIdentity?
        /// The attribute as it was and as it is to be; nil where it is absent.
        let before: String?
        let after: String?

        var content: JudgedContent {
            JudgedContent(file: file, hash: hash, fingerprint: fingerprint, identity: identity)
        }
    }

    static let attribute = "user.xdg.tags"

    static let declaration = ActionDeclaration(
        name: "tag",
        summary:
            "Adds tags to the file, or removes them (extended attribute `user.xdg.tags`). A file that has other names "
            + "(hard links) stays as it is.",
        guarantee: .exactlyOnce, work: .disk, canUndo: true,
        parameters: [
            ParameterSpec("add", .templateList, "tags to add"),
            ParameterSpec("remove", .templateList, "tags to remove"),
        ],
        provides: [ValueSpec("tag.all", "all tags of the file afterwards, separated by commas")],
        example: "tag: { add: [read-later] }")

    private let arguments: Arguments
    private let services: FileServices

    init(_ arguments: Arguments, _ services: FileServices) throws {
        guard arguments.has("add") || arguments.has("remove") else {
            throw ArgumentFault("add", "`tag` needs tags to `add` or to `remove`")
        }
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        guard let hash = input.file.hash else {
            throw Fault(.superseded, "\(input.file.absolute) is gone", path: input.file.absolute)
        }
        func tags(_ name: String) throws -> [String] {
            guard arguments.has(name) else { return [] }
            return try arguments.texts(name, values: input.values).map {
                $0.replacingOccurrences(of: ",", with: " ").trimmingCharacters(in: .whitespacesAndNewlines)
            }.filter { !$0.isEmpty }
        }
        let add = try tags("add")
        let remove = Set(try tags("remove"))
        let path = input.file.absolute
        let fingerprint = input.file.fingerprint
        let files = input.files
        return try await services.files.run {
            let open = try files.file(path)
            try Self.requireOneName(open)
            let before = try read(open)
            var all = (before ?? "").split(separator: ",").map(String.init).filter { !remove.contains($0) }
            for tag in add where !all.contains(tag) { all.append(tag) }
            return Intent(
                file: path, hash: hash, fingerprint: fingerprint, identity: try open.identity(), before: before,
                after: all.isEmpty ? nil : all.joined(separator: ","))
        }
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let files = context.files
        return try await services.files.run {
            let open = try files.present(intent.file)
            try Self.requireOneName(open)
            return try set(intent.after, intent.content, open)
        }
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        let files = context.files
        return try await services.files.run {
            guard try files.status(intent.file)?.kind == .file else { return .notDone }
            let file = try files.file(intent.file)
            guard try read(file) == intent.after else { return .notDone }
            return .done(try set(intent.after, intent.content, file))
        }
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        try await services.files.run {
            let (content, file) = try intent.content.openedForUndo(context, orIsWritten: true)
            let tags = try read(file)
            guard tags == intent.after || context.resumesUndo && tags == intent.before else {
                throw Fault(
                    .failed, "the tags of \(content.file) have been changed since; they were left as they are",
                    path: content.file, code: Fault.leftAlone)
            }
            return try set(intent.before, content, file)
        }
    }

    func targets(of intent: Intent) -> [BytePath] { [intent.file] }

    func summary(of intent: Intent) -> String { "set the tags of \(intent.file) to \(intent.after ?? "none")" }

    private static func requireOneName(_ open: Descriptor) throws {
        try JudgedContent.requireOneName(open, "it would have the same tags; they were left as they are")
    }

    private func read(_ file: Descriptor) throws -> String? {
        try ExtendedAttributes.value(Self.attribute, of: file).map { String(decoding: $0, as: UTF8.self) }
    }

    private func set(_ tags: String?, _ content: JudgedContent, _ file: Descriptor) throws -> Receipt {
        // Setting what is set already would only make the file look changed once more.
        if try ExtendedAttributes.value(Self.attribute, of: file) != tags.map({ Array($0.utf8) }) {
            try ExtendedAttributes.set(Self.attribute, tags.map { Array($0.utf8) }, on: file)
        }
        try file.sync()
        // What somebody else has saved there is news, whoever tagged it.
        return Receipt(
            "set the tags of \(content.file) to \(tags ?? "none")", values: ["tag.all": .text(tags ?? "")],
            effects: try content.touched(
                file, isJudged: content.isHeld(by: file), set: [Self.attribute: tags.map { Array($0.utf8) }]))
    }
}
