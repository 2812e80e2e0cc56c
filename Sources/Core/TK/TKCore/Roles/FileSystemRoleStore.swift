import Glibc
import JSONText
import OwnFiles
import Platform

/// A user's advisors as files `custom_NAME.json` in one folder, `~/.tk/roles`. Everything here blocks.
public struct FileSystemRoleStore: CustomRoleStore {
    package let folder: BytePath

    private static let keys = [
        "id", "name", "expertise", "focusAreas", "perspective", "guidelines", "exampleGood", "exampleBad",
    ]

    package init(folder: BytePath) { self.folder = folder }

    /// In the user's `.tk` folder, found by `TK_HOME` or `HOME`.
    public init(environment: [String: String]) throws {
        folder = try TKHome(environment: environment).roles
    }

    /// All readable ones; broken files are skipped (``loadAll()`` names them).
    public func load() throws -> [CustomRole] { try loadAll().roles }

    /// The advisors in the order of their ids, and the problems of broken files.
    package func loadAll() throws -> (roles: [CustomRole], problems: [FileProblem]) {
        var roles: [CustomRole] = []
        var problems: [FileProblem] = []
        for name in try names() {
            let path = folder.appending(name)
            do {
                roles.append(try read(path))
            } catch let problem as FileProblem {
                problems.append(problem)
            } catch let fault as Fault {
                problems.append(FileProblem(path: path, line: nil, message: fault.message))
            }
        }
        return (roles, problems)
    }

    /// Writes the file atomically; nothing is written if the role is refused or its id is taken.
    public func create(_ role: CustomRole) throws {
        let complaints = role.complaints()
        guard complaints.isEmpty else {
            throw Fault(
                .usage, "the advisor was not created: \(complaints.map(\.message).joined(separator: "; "))")
        }
        let path = file(role.id)
        try Durable.makeDirectory(folder, mode: 0o700)
        let text = try JSONText.document(Stored(role))
        let temporary = try Durable.stage(Array(text.utf8), for: path)
        var isPlaced = false
        defer { if !isPlaced { unlinkQuietly(temporary) } }
        isPlaced = try Durable.renameNew(temporary, to: path)
        if !isPlaced {
            throw Fault(
                .usage,
                "there is an advisor `\(role.id)` already; choose another name, or delete it first with "
                    + "`tk roles delete \(role.id)`", path: path)
        }
    }

    /// Removes the file; durable when it returns.
    public func delete(id: String) throws {
        let known = try names().map { String($0.nameText.dropLast(".json".count)) }
        guard id.hasPrefix(Role.customPrefix), known.contains(id) else {
            let hint =
                id.hasPrefix(Role.customPrefix)
                ? NearMiss.of(id, among: known).first.map { "; did you mean `\($0)`?" } ?? ""
                : "; only your own advisors, whose ids begin with \(Role.customPrefix), can be deleted"
            throw Fault(.usage, "\(folder) has no advisor `\(BytePath.escape(id.utf8))`\(hint)", path: folder)
        }
        try Durable.remove(file(id))
        try Durable.syncDirectory(folder)
    }

    private func file(_ id: String) -> BytePath { folder.appending(name: "\(id).json".utf8) }

    private func read(_ path: BytePath) throws -> CustomRole {
        let file = try JSONFile(try Descriptor(path, follow: true).readAll(limit: 1 << 20), path: path)
        try file.allowOnly(Self.keys)
        let role = CustomRole(
            name: try file.requiredText("name"), expertise: try file.requiredText("expertise"),
            focusAreas: try file.texts("focusAreas"), perspective: try file.requiredText("perspective"),
            guidelines: try file.texts("guidelines"), exampleGood: try file.text("exampleGood"),
            exampleBad: try file.text("exampleBad"))
        if let complaint = role.complaints().first { throw file.problem(complaint.field, complaint.message) }
        let stem = String(path.nameText.dropLast(".json".count))
        guard role.id == stem else {
            throw file.problem(
                "name", "the name \"\(role.name)\" belongs into \(role.id).json; rename the file or change the name")
        }
        if let id = try file.text("id"), id != stem {
            throw file.problem("id", "`id` must be \"\(stem)\", as the file is called, or be left out")
        }
        return role
    }

    private func names() throws -> [BytePath] {
        do {
            return try jsonNames(in: folder)
        } catch let fault as Fault where fault.errno == ENOENT {
            return []
        }
    }

    private func unlinkQuietly(_ path: BytePath) {
        // The file is only the staged copy; the original error says more than a failed removal.
        path.withCString { _ = unlink($0) }
    }

    /// The file's format: includes the id, for human readers.
    private struct Stored: Encodable {
        let id: String
        let name: String
        let expertise: String
        let focusAreas: [String]
        let perspective: String
        let guidelines: [String]
        let exampleGood: String?
        let exampleBad: String?

        init(_ role: CustomRole) {
            id = role.id
            name = role.name
            expertise = role.expertise
            focusAreas = role.focusAreas
            perspective = role.perspective
            guidelines = role.guidelines
            exampleGood = role.exampleGood
            exampleBad = role.exampleBad
        }
    }
}
