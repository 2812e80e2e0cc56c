import Ledger
import OwnFiles
import Platform
import Rules
import Watching

/// `steward rules try FILE…`: where files would end up under the rules, and what each step would do. Changes nothing,
/// whether or not the agent is running.
package struct RuleTrial: Codable, Sendable {
    /// The files and rules to try.
    package struct Request: Sendable {
        /// Files and folders, as written.
        package let paths: [BytePath]
        /// The place to assume for files outside all places.
        package let place: String?
        /// Limits the trial to this rule.
        package let rule: String?

        package init(paths: [BytePath], place: String? = nil, rule: String? = nil) {
            (self.paths, self.place, self.rule) = (paths, place, rule)
        }
    }

    package struct Taking: Codable, Sendable {
        package let rule: String
        package let place: String
        /// What each step would do.
        package var steps: [String] = []
        /// Warnings: a name that is taken, a step that would be refused.
        package var warnings: [String] = []
    }

    package struct File: Codable, Sendable {
        /// As named by the user.
        package let file: BytePath
        /// The location as rules see it.
        package let place: String
        package let path: BytePath
        package var rules: [Taking] = []
        /// Where the file and its products would be: `archive/2026/a.pdf`; `trash` for the trash.
        package var after: [String] = []
        /// Why no rule matches it.
        package var notTaken: [String] = []
    }

    package struct Note: Codable, Sendable {
        package let note: BytePath
        package let text: String
    }

    package let files: [File]
    /// Folders that rules about folders would match in their present state; `file` and `path` are the folder's.
    package let folders: [File]
    package let notes: [Note]
    package let before: [String]
    package let after: [String]
    package let diagnostics: [Diagnostic]

    /// Maximum number of files per trial.
    static let most = 10_000

    /// - Throws: `Fault(.usage)` for a file outside all places if no place is given, and for an unknown rule or place.
    package static func of(
        _ request: Request, _ configuration: Configuration, _ directories: Directories
    ) async throws -> RuleTrial {
        let core = try AgentCore.forPlanning(configuration, directories)
        let (loaded, found) = try await BlockingPool("try").run {
            let loaded = core.loadRules()
            return (loaded, try TrialFiles(core, request, try rules(loaded, request)).all())
        }
        var rehearsal = RuleRehearsal(
            core, try rules(loaded, request), asking: try Ledger.openForReading(directory: directories.state),
            explains: request.rule != nil)
        for file in found { try await rehearsal.add(file) }
        for folder in Set(found.flatMap(\.folders)).sorted() { try await rehearsal.addFolder(folder) }
        return rehearsal.result(loaded.diagnostics)
    }

    private static func rules(_ loaded: LoadedRules, _ request: Request) throws -> [Rule] {
        guard let name = request.rule else { return loaded.rules }
        guard let rule = loaded.rules.first(where: { $0.name == name }) else {
            let hint = Suggest.hint(for: name, among: loaded.rules.map(\.name)).map { "; \($0)" } ?? ""
            throw Fault(.usage, "no rule is called \"\(name)\"\(hint)")
        }
        return [rule]
    }

    /// For the terminal.
    package var lines: [String] {
        var out = diagnostics.filter { $0.severity == .error }.flatMap(\.lines)
        if files.isEmpty { return out + ["no files"] }
        out += ["Before:"] + before.map { "  \($0)" } + ["", "After:"] + after.map { "  \($0)" }
        for file in files + folders {
            out += ["", "\(file.place)/\(file.path)"]
            for taking in file.rules {
                out.append("  \(taking.rule)")
                out += taking.steps.enumerated().map { "    \($0.offset + 1). \($0.element)" }
                out += taking.warnings.map { "    ! \($0)" }
            }
            if file.rules.isEmpty { out += ["  no rule matches it"] + file.notTaken.map { "    \($0)" } }
        }
        for note in notes {
            out += ["", "\(note.note) would get:"] + note.text.split(separator: "\n").map { "  | \($0)" }
        }
        let taken = files.count { !$0.rules.isEmpty }
        let whole =
            folders.isEmpty ? "" : ", and \(folders.count == 1 ? "a folder" : "\(folders.count) folders") as a whole"
        return out + ["", "\(taken) of \(files.count) files would match\(whole). Nothing has been done."]
    }
}
