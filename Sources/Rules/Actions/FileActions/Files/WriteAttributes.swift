import Foundation
import Platform
import Rules

/// Sets or removes extended attributes in the `user.` namespace.
struct WriteAttributes: DecidingAction {
    struct Change: Codable, Sendable, Equatable {
        let name: String
        /// Old and new value; nil if absent.
        let before: Data?
        let after: Data?
    }

    struct Intent: Codable, Sendable, Equatable {
        let content: JudgedContent
        let changes: [Change]
    }

    /// The namespace that users may set; the others are the system's.
    private static let namespace = "user."
    private static let name = "the attributes"

    static let declaration = ActionDeclaration(
        name: "write-attributes",
        summary: "Sets extended attributes of the file, or takes them away: those that begin with `user.`.",
        guarantee: .exactlyOnce, work: .disk, canUndo: true,
        parameters: [
            ParameterSpec("set", .templateMap, "attributes, and what each is to say; tags are set with `tag`"),
            ParameterSpec("remove", .templateList, "attributes to take away"),
        ],
        example: "write-attributes: { set: { user.source: \"{{ file.name }}\" }, remove: [user.draft] }")

    private let arguments: Arguments
    private let services: FileServices

    init(_ arguments: Arguments, _ services: FileServices) throws {
        guard arguments.has("set") || arguments.has("remove") else {
            throw ArgumentFault("set", "`write-attributes` needs attributes to `set` or to `remove`")
        }
        for name in try Self.named(arguments) {
            guard let complaint = Self.complaint(name) else { continue }
            throw ArgumentFault(arguments.has("set") ? "set" : "remove", complaint)
        }
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        let content = try JudgedContent(of: input)
        var wanted: [(name: String, value: Data?)] = []
        if arguments.has("set") {
            wanted += try arguments.map("set", values: input.values).map { ($0.name, Data($0.text.utf8)) }
        }
        if arguments.has("remove") {
            wanted += try arguments.texts("remove", values: input.values).map { ($0, nil) }
        }
        for (name, _) in wanted {
            if let complaint = Self.complaint(name) { throw Fault(.failed, complaint, path: content.file) }
        }
        let files = input.files
        return try await services.files.run { [wanted, judged = content] in
            var content = judged
            let open = try files.file(content.file)
            try AttributeEdit<ExtendedTraits>.requireOneName(open, Self.name)
            content.identity = try open.identity()
            let changes = try wanted.map {
                Change(
                    name: $0.name, before: try ExtendedAttributes.value($0.name, of: open).map { Data($0) },
                    after: $0.value)
            }
            return Intent(content: content, changes: changes)
        }
    }

    func work(for intent: Intent) -> any Primitive {
        func traits(_ value: (Change) -> Data?) -> ExtendedTraits {
            ExtendedTraits(values: Dictionary(intent.changes.map { ($0.name, value($0).map { Array($0) }) }) { $1 })
        }
        let names = intent.changes.map(\.name).joined(separator: ", ")
        return AttributeEdit(
            services: services, content: intent.content, before: traits(\.before), after: traits(\.after),
            name: Self.name
        ) {
            Receipt("wrote the attributes \(names) of \($1.file)")
        }
    }

    func summary(of intent: Intent) -> String {
        let changes = intent.changes.map { change in
            change.after.map { "set \(change.name) to \"\(BytePath.escape(Array($0)))\"" } ?? "remove \(change.name)"
        }
        return "\(changes.joined(separator: ", ")) at \(intent.content.file)"
    }

    /// The names that are fixed in the rule.
    private static func named(_ arguments: Arguments) throws -> [String] {
        var names = arguments.mapNames("set")
        if arguments.has("remove") { names += try arguments.fixedTexts("remove") }
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw ArgumentFault("remove", "\(BytePath.escape(Array(twice.utf8))) is both set and removed")
        }
        return names
    }

    private static func complaint(_ name: String) -> String? {
        let shown = BytePath.escape(Array(name.utf8))
        guard name.hasPrefix(namespace), name.utf8.count > namespace.utf8.count else {
            return "`\(shown)` is no attribute of a user's own; write `user.\(shown)`"
        }
        return name.utf8.count > 255 || name.utf8.contains(0) ? "`\(shown)` cannot be an attribute's name" : nil
    }
}
