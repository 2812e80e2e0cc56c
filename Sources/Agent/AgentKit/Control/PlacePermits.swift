import Glibc
import Platform
import Rules
import Watching

/// Finds operations wanted by rules that the permissions of a place's files deny to this user, before a job is parked
/// because of that.
package struct PlacePermits {
    private let core: AgentCore

    package init(_ core: AgentCore) { self.core = core }

    /// The permission that an action needs, in addition to reading the file.
    private enum Need: String {
        /// Writing the file, to set an attribute.
        case file
        /// Writing the folder, to remove a name from it.
        case folder
    }

    private static let needs: [String: Need] = ["tag": .file, "move": .folder, "rename": .folder, "trash": .folder]

    private struct Withheld {
        var files: [Need: [BytePath]] = [:]
    }

    /// One warning per step and place. Blocks; checks every file of the places where such a step runs.
    package func warnings(_ rules: [Rule]) -> [Diagnostic] {
        // Root is denied nothing.
        guard geteuid() != 0 else { return [] }
        var seen: [String: Withheld] = [:]
        var found: [Diagnostic] = []
        for rule in rules {
            for step in rule.steps {
                guard let need = Self.needs[step.declaration.name] else { continue }
                for place in rule.places {
                    let withheld = seen[place.name] ?? look(place)
                    seen[place.name] = withheld
                    if let warning = Self.warning(rule, step, place, withheld.files[need] ?? [], need) {
                        found.append(warning)
                    }
                }
            }
        }
        return found
    }

    private func look(_ place: PlaceInfo) -> Withheld {
        var withheld = Withheld()
        let watch = WatchRoot(
            name: place.name, path: place.root, excluded: core.configuration.map.nested(in: place))
        // A missing or unreadable place is reported by `doctor`.
        guard let root = try? core.journal.presence.root(of: place) else { return withheld }
        _ = try? Scanner.walk(root: watch, ignoring: IgnoreList(extra: core.configuration.ignore)) { path, status in
            guard status.kind == .file, let entry = try? root.entry(path) else { return }
            let isOwn = status.owner == geteuid()
            if !isOwn || status.mode & 0o200 == 0, !entry.isAccessible(W_OK) {
                withheld.files[.file, default: []].append(path)
            }
            guard let folder = try? entry.folder.status() else { return }
            let isSticky = folder.mode & mode_t(S_ISVTX) != 0 && !isOwn && folder.owner != geteuid()
            if isSticky || !entry.folder.isAccessible(W_OK | X_OK) { withheld.files[.folder, default: []].append(path) }
        }
        return withheld
    }

    private static func warning(
        _ rule: Rule, _ step: StepTemplate, _ place: PlaceInfo, _ files: [BytePath], _ need: Need
    ) -> Diagnostic? {
        guard let first = files.min() else { return nil }
        let name = step.declaration.name
        let count = files.count == 1 ? "the file \(first)" : "\(files.count) files, such as \(first),"
        let later = rule.steps.dropFirst(step.index + 1).map(\.declaration.name)
        let parked =
            later.isEmpty
            ? "a job for such a file is parked"
            : "a job for such a file is parked before \(later.map { "`\($0)`" }.joined(separator: ", "))"
        let why =
            need == .file
            ? "this user may not write it"
            : "this user may not rename or remove files in its folder, or not those of others"
        return Diagnostic(
            file: rule.file, at: step.position,
            "`\(name)` is not permitted on \(count) in \(place.name): \(why); \(parked)",
            hint: need == .file
                ? "grant the agent's user write access, or let `\(name)` come last"
                : "grant the agent's user the folder",
            severity: .warning)
    }
}
