import FilePlacing
import Foundation
import Glibc
import Platform
import Rules

/// Sets extended attributes of a user's own, or takes them away.
struct WriteAttributes: RuleAction {
    struct Change: Codable, Sendable, Equatable {
        let name: String
        /// As it was and as it is to be; nil where it is absent.
        let before: Data?
        let after: Data?
    }

    struct Intent: Codable, Sendable, Equatable {
        let content: JudgedContent
        let changes: [Change]
    }

    /// What a user may set on any file; the others are the system's.
    private static let namespace = "user."

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
            try Self.requireOneName(open)
            content.identity = try open.identity()
            let changes = try wanted.map {
                Change(name: $0.name, before: try Self.value($0.name, open), after: $0.value)
            }
            return Intent(content: content, changes: changes)
        }
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let files = context.files
        return try await services.files.run {
            let open = try files.present(intent.content.file)
            try Self.requireOneName(open)
            return try set(intent.changes, intent.content, open) { $0.after }
        }
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        let files = context.files
        return try await services.files.run {
            guard try files.status(intent.content.file)?.kind == .file else { return .notDone }
            let open = try files.file(intent.content.file)
            let now = try intent.changes.map { try Self.value($0.name, open) }
            let isBegun = zip(intent.changes, now).contains { $0.after == $1 && $0.before != $1 }
            let isWhole = zip(intent.changes, now).allSatisfy { $0.after == $1 }
            let isOurs = zip(intent.changes, now).allSatisfy { $0.after == $1 || $0.before == $1 }
            // One that was half done goes on: decided anew, it would no longer know what was there before.
            guard isWhole || isBegun && isOurs else { return .notDone }
            return .done(try set(intent.changes, intent.content, open) { $0.after })
        }
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        try await services.files.run {
            let (content, open) = try intent.content.openedForUndo(context, orIsWritten: true)
            for change in intent.changes {
                let now = try Self.value(change.name, open)
                guard now == change.after || context.resumesUndo && now == change.before else {
                    throw Fault(
                        .failed,
                        "the attribute \(change.name) of \(content.file) has been changed since; all were left as "
                            + "they are", path: content.file, code: Fault.leftAlone)
                }
            }
            return try set(intent.changes, content, open) { $0.before }
        }
    }

    func targets(of intent: Intent) -> [BytePath] { [intent.content.file] }

    func summary(of intent: Intent) -> String {
        let changes = intent.changes.map { change in
            change.after.map { "set \(change.name) to \"\(BytePath.escape(Array($0)))\"" } ?? "remove \(change.name)"
        }
        return "\(changes.joined(separator: ", ")) at \(intent.content.file)"
    }

    private func set(
        _ changes: [Change], _ content: JudgedContent, _ open: Descriptor, to value: (Change) -> Data?
    ) throws -> Receipt {
        let isJudged = try content.isHeld(by: open)
        for change in changes where try Self.value(change.name, open) != value(change) {
            do {
                try ExtendedAttributes.set(change.name, value(change).map { Array($0) }, on: open)
            } catch let fault as Fault where [ENOSPC, E2BIG, ERANGE, ENOTSUP].contains(fault.errno) {
                // A full disk would pass by itself; a file's room for attributes, a block on many systems, does not.
                throw Fault(
                    .failed,
                    "\(fault.message): the file system gives a file's attributes no room, or too little for this one",
                    path: open.path, errno: fault.errno)
            }
        }
        try open.sync()
        let names = changes.map(\.name).joined(separator: ", ")
        return Receipt(
            "wrote the attributes \(names) of \(content.file)",
            effects: try content.touched(
                open, isJudged: isJudged,
                set: Dictionary(changes.map { ($0.name, value($0).map { Array($0) }) }) { $1 }))
    }

    private static func requireOneName(_ open: Descriptor) throws {
        try JudgedContent.requireOneName(open, "it would have the same attributes; they were left as they are")
    }

    private static func value(_ name: String, _ open: Descriptor) throws -> Data? {
        try ExtendedAttributes.value(name, of: open).map { Data($0) }
    }

    /// The names that the rule alone gives.
    private static func named(_ arguments: Arguments) throws -> [String] {
        var names = arguments.mapNames("set")
        if arguments.has("remove") { names += try arguments.fixedTexts("remove") }
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw ArgumentFault("remove", "\(BytePath.escape(Array(twice.utf8))) is to be set and to be removed")
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
