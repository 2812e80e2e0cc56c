import Foundation
import Glibc
import Platform
import Rules

/// Sets the file's mode, owner, group and times.
struct SetFile: DecidingAction {
    struct Settings: Codable, Sendable, Equatable {
        var mode: UInt32?
        var owner: UInt32?
        var group: UInt32?
        /// Nanoseconds since 1970.
        var modified: Int64?
        var accessed: Int64?
    }

    struct Intent: Codable, Sendable, Equatable {
        let content: JudgedContent
        /// Both hold only the requested settings.
        let before: Settings
        let after: Settings
    }

    static let declaration = ActionDeclaration(
        name: "set",
        summary:
            "Sets the file's mode, owner, group or times. A file that has other names (hard links) stays as it is.",
        guarantee: .exactlyOnce, work: .disk,
        canUndo: true,
        parameters: [
            ParameterSpec(
                "mode", .literal,
                "permissions as chmod(1) takes them: `\"0640\"`, or `u+x,go-w`; never setuid, setgid or sticky"),
            ParameterSpec(
                "owner", .literal, "the user who is to own it, by name or number; only root may give files away"),
            ParameterSpec("group", .literal, "its group, by name or number; only root may name one it is not in"),
            ParameterSpec(
                "modified", .template, "when the content was last changed, as a date: `\"{{ front.date }}\"`"),
            ParameterSpec("accessed", .template, "when it was last read, as a date"),
        ],
        example: "set: { mode: \"0640\", modified: \"{{ front.date | default: 2026-01-01 }}\" }")

    private static let name = "the mode, owner and times"
    private static let names = ["mode", "owner", "group", "modified", "accessed"]

    private let arguments: Arguments
    private let services: FileServices
    private let mode: ModeChange?

    init(_ arguments: Arguments, _ services: FileServices) throws {
        guard Self.names.contains(where: arguments.has) else {
            throw ArgumentFault(
                "mode", "`set` needs something to set: a `mode`, `owner`, `group`, `modified` or `accessed`")
        }
        if arguments.has("mode") {
            let text = try arguments.literal("mode")
            guard let change = ModeChange(text) else {
                throw ArgumentFault(
                    "mode",
                    "\"\(BytePath.escape(Array(text.utf8)))\" is no mode; write one as \"0640\" or `u+x,go-w`, with "
                        + "neither setuid, setgid nor sticky")
            }
            mode = change
        } else {
            mode = nil
        }
        for name in ["modified", "accessed"] where arguments.has(name) {
            guard try arguments.isFixed(name), try arguments.time(name, values: [:]) == nil else { continue }
            throw ArgumentFault(name, Self.noDate(try arguments.text(name, values: [:])))
        }
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        let content = try JudgedContent(of: input)
        let modified = try time("modified", input)
        let accessed = try time("accessed", input)
        let files = input.files
        return try await services.files.run {
            let open = try files.file(content.file)
            try AttributeEdit<Settings>.requireOneName(open, Self.name)
            let status = try open.status()
            var (before, after) = (Settings(), Settings())
            if let mode {
                before.mode = UInt32(status.mode)
                after.mode = UInt32(mode.applied(to: status.mode))
            }
            if arguments.has("owner") {
                before.owner = status.owner
                after.owner = try Accounts.user(arguments.literal("owner"))
            }
            if arguments.has("group") {
                before.group = status.group
                after.group = try Accounts.group(arguments.literal("group"))
            }
            if let modified { (before.modified, after.modified) = (status.fingerprint.modified, modified) }
            if let accessed { (before.accessed, after.accessed) = (try open.accessed(), accessed) }
            return Intent(content: content, before: before, after: after)
        }
    }

    func work(for intent: Intent) -> any Primitive {
        AttributeEdit(
            services: services, content: intent.content, before: intent.before, after: intent.after, needsContent: true,
            name: Self.name
        ) {
            Receipt("set \($0.shown) of \($1.file)")
        }
    }

    func summary(of intent: Intent) -> String { "set \(intent.after.shown) of \(intent.content.file)" }

    private func time(_ name: String, _ input: StepInput) throws -> Int64? {
        guard arguments.has(name) else { return nil }
        guard let time = try arguments.time(name, values: input.values) else {
            let text = try arguments.text(name, values: input.values)
            throw Fault(.refused, "`\(name)`: \(Self.noDate(text))", path: input.file.absolute)
        }
        return time.nanoseconds
    }

    private static func noDate(_ text: String) -> String {
        "\"\(BytePath.escape(Array(text.utf8)))\" is no date; write one as 2026-11-21 or 2026-11-21T09:30"
    }
}

extension SetFile.Settings: FileTraits {
    var attributes: [String: [UInt8]?] { [:] }

    func now(of file: Descriptor) throws -> SetFile.Settings {
        let status = try file.status()
        return SetFile.Settings(
            mode: mode.map { _ in UInt32(status.mode) }, owner: owner.map { _ in status.owner },
            group: group.map { _ in status.group }, modified: modified.map { _ in status.fingerprint.modified },
            accessed: try accessed.map { _ in try file.accessed() })
    }

    /// Owner before mode, because chown clears mode bits. Times last, because nothing reads the file after that.
    func set(on file: Descriptor) throws {
        let now = try now(of: file)
        do {
            if (owner, group) != (now.owner, now.group) { try file.setOwner(owner, group: group) }
        } catch let fault as Fault where fault.errno == EPERM {
            throw Fault(
                .failed,
                "the agent may not give \(file.path) to another user, or to a group that it is not in; run it as root, or "
                    + "leave `owner` and `group` out", path: file.path, errno: EPERM)
        }
        if let mode, try file.status().mode != mode_t(mode) { try file.setMode(mode_t(mode)) }
        if (accessed, modified) != (now.accessed, now.modified) {
            try file.setTimes(accessed: accessed, modified: modified)
        }
    }

    /// Ignores the access time, which any reader changes.
    func stray(from one: SetFile.Settings, or other: SetFile.Settings) -> String? {
        if ![one.mode, other.mode].contains(mode) { return "the mode" }
        if ![one.owner, other.owner].contains(owner) { return "the owner" }
        if ![one.group, other.group].contains(group) { return "the group" }
        return [one.modified, other.modified].contains(modified) ? nil : "the time of the last change"
    }

    func isBegun(_ before: SetFile.Settings, _ after: SetFile.Settings) -> Bool {
        mode == after.mode && mode != before.mode || owner == after.owner && owner != before.owner
            || group == after.group && group != before.group
            || modified == after.modified && modified != before.modified
    }

    var shown: String {
        var parts: [String] = []
        if let mode { parts.append("mode 0\(String(mode, radix: 8))") }
        if let owner { parts.append("owner \(owner)") }
        if let group { parts.append("group \(group)") }
        if let modified { parts.append("modified \(Timestamp(nanoseconds: modified))") }
        if let accessed { parts.append("accessed \(Timestamp(nanoseconds: accessed))") }
        return parts.joined(separator: ", ")
    }
}
