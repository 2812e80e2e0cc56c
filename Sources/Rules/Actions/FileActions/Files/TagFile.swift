import Foundation
import Platform
import Rules

/// Sets tags as file managers do: comma-separated in the extended attribute `user.xdg.tags`.
struct TagFile: DecidingAction {
    struct Intent: Codable, Sendable, Equatable {
        let file: BytePath
        let hash: ContentHash
        /// Of the judged file; nil in intents of older versions.
        var fingerprint: Fingerprint?
        /// As in ``JudgedContent``.
        var identity: FileIdentity?
        /// Old and new value of the attribute; nil if absent.
        let before: String?
        let after: String?

        var content: JudgedContent {
            JudgedContent(file: file, hash: hash, fingerprint: fingerprint, identity: identity)
        }
    }

    static let attribute = "user.xdg.tags"
    private static let name = "the tags"

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
            try AttributeEdit<ExtendedTraits>.requireOneName(open, Self.name)
            let before = try ExtendedAttributes.value(Self.attribute, of: open).map {
                String(decoding: $0, as: UTF8.self)
            }
            var all = (before ?? "").split(separator: ",").map(String.init).filter { !remove.contains($0) }
            for tag in add where !all.contains(tag) { all.append(tag) }
            return Intent(
                file: path, hash: hash, fingerprint: fingerprint, identity: try open.identity(), before: before,
                after: all.isEmpty ? nil : all.joined(separator: ","))
        }
    }

    func work(for intent: Intent) -> any Primitive {
        func traits(_ tags: String?) -> ExtendedTraits {
            ExtendedTraits(values: [Self.attribute: tags.map { Array($0.utf8) }])
        }
        return AttributeEdit(
            services: services, content: intent.content, before: traits(intent.before), after: traits(intent.after),
            name: Self.name
        ) { traits, content in
            let tags = traits.values[Self.attribute]?.map { String(decoding: $0, as: UTF8.self) }
            return Receipt(
                "set the tags of \(content.file) to \(tags ?? "none")", values: ["tag.all": .text(tags ?? "")])
        }
    }

    func summary(of intent: Intent) -> String { "set the tags of \(intent.file) to \(intent.after ?? "none")" }
}
