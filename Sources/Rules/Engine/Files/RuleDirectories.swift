import Foundation
import Platform

/// How a rule file was used.
package struct RuleFile: Sendable, Codable, Equatable {
    package enum Fate: String, Sendable, Codable {
        case used
        /// Replaced by a file with the same name in a later directory.
        case replaced
        /// Empty, or a symlink to /dev/null: disables earlier files with its name.
        case mask
    }

    package let path: BytePath
    package let fate: Fate
    /// The file that replaces it.
    package let replacedBy: BytePath?
}

/// All rules of some directories, with all diagnostics.
package struct LoadedRules: Sendable {
    /// The valid rules, in execution order.
    package let rules: [Rule]
    /// Ordered by file, then by line.
    package let diagnostics: [Diagnostic]
    package let files: [RuleFile]
    /// The rules of each file in the machine's folder if others maintain it, for the next load; nil if not known.
    package let machineRules: [BytePath: [Rule]]?
}

/// File access for rule files. They are configuration, so symlinks may lead to them from anywhere; this module itself
/// opens nothing by path. Blocks.
package struct RuleFileReader: Sendable {
    /// The names in a folder; empty if it does not exist.
    let names: @Sendable (BytePath) throws -> [[UInt8]]
    /// The bytes of a file; empty for a symlink to /dev/null.
    let read: @Sendable (BytePath) throws -> [UInt8]

    /// Maximum size of a rule file in bytes.
    package static let limit: Int64 = 1 << 24

    package init(
        names: @escaping @Sendable (BytePath) throws -> [[UInt8]],
        read: @escaping @Sendable (BytePath) throws -> [UInt8]
    ) {
        self.names = names
        self.read = read
    }
}

/// `rules.d` directories, with the conventions of systemd and udev (docs/design/values.md). Files `*.yaml` are read
/// in name order across all directories. A file replaces those with its name in earlier directories; an empty one
/// masks them.
package enum RuleDirectories {
    private static let suffix = Array(".yaml".utf8)

    /// Reads the directories. Blocks. A missing directory counts as empty.
    ///
    /// - Parameters:
    ///   - directories: lowest precedence first.
    ///   - others: the machine's directory, if someone else maintains it. Rules there that need a place or anything
    ///     else not configured here are skipped with a warning. An unusable file there is a warning too, never an
    ///     error.
    ///   - before: the last rules from that directory, used for files that cannot be read now.
    ///   - timeZone: for the `date` filter of templates.
    ///   - settle: default settle time in seconds.
    package static func load(
        _ directories: [BytePath], others: BytePath? = nil, before: [BytePath: [Rule]]? = nil,
        _ files: RuleFileReader, registry: ActionRegistry, places: [PlaceInfo], timeZone: Zone, settle: Double = 1
    ) -> LoadedRules {
        var diagnostics: [Diagnostic] = []
        var machine = MachineRules(others, before: before)
        var byName: [[UInt8]: [BytePath]] = [:]
        for directory in directories {
            do {
                for name in try names(in: directory, files, &diagnostics) {
                    byName[name, default: []].append(directory.appending(name: name))
                }
            } catch {
                guard directory == others else {
                    diagnostics.append(Diagnostic(file: directory.description, at: .start, explain(error)))
                    continue
                }
                let (known, warning) = machine.close(directory, error)
                diagnostics.append(warning)
                // Which of the earlier files it replaces or masks is unknown.
                if known == nil { byName = [:] }
                for file in known ?? [] { byName[file.name, default: []].append(file) }
            }
        }
        var found: [RuleFile] = []
        var rules: [Rule] = []
        let shelf = TableShelf(files, others: others)
        for (_, paths) in byName.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard let winner = paths.last else { continue }
            found += paths.dropLast().map { RuleFile(path: $0, fate: .replaced, replacedBy: winner) }
            let isOthers = machine.owns(winner)
            if isOthers, machine.isClosed {
                found.append(RuleFile(path: winner, fate: .used, replacedBy: nil))
                rules += machine.former(of: winner)
                continue
            }
            var complaints: [Diagnostic]
            var loaded: [Rule] = []
            let refusals = shelf.refusals
            do {
                let bytes = try files.read(winner)
                found.append(RuleFile(path: winner, fate: bytes.isEmpty ? .mask : .used, replacedBy: nil))
                (loaded, complaints) = parse(
                    file: winner.description, bytes: bytes, registry: registry, places: places, timeZone: timeZone,
                    settle: settle, tableFolder: TableFolder(folder: winner.parent, shelf: shelf), isOthers: isOthers)
            } catch {
                found.append(RuleFile(path: winner, fate: .used, replacedBy: nil))
                complaints = [Diagnostic(file: winner.description, at: .start, explain(error))]
            }
            if isOthers, complaints.hasErrors || shelf.refusals > refusals {
                complaints = machine.warnings(complaints, of: winner)
                loaded = machine.former(of: winner)
            } else if isOthers {
                machine.note(loaded, of: winner)
            }
            rules += loaded
            diagnostics += complaints
        }
        let othersFiles = machine.fileNames
        let (unique, duplicates) = unique(rules) { othersFiles.contains($0.file) }
        diagnostics += shelf.diagnostics + duplicates + RuleCheck.warnings(unique)
        return LoadedRules(rules: unique, diagnostics: diagnostics, files: found, machineRules: machine.result)
    }

    /// Parses the rules in one file's text, for editors and tests. Neither compares names with other files nor reads
    /// tables.
    package static func parse(
        file: String, bytes: [UInt8], registry: ActionRegistry, places: [PlaceInfo], timeZone: Zone,
        settle: Double = 1
    ) -> ([Rule], [Diagnostic]) {
        parse(
            file: file, bytes: bytes, registry: registry, places: places, timeZone: timeZone, settle: settle,
            tableFolder: nil)
    }

    private static func parse(
        file: String, bytes: [UInt8], registry: ActionRegistry, places: [PlaceInfo], timeZone: Zone, settle: Double,
        tableFolder: TableFolder?, isOthers: Bool = false
    ) -> ([Rule], [Diagnostic]) {
        let reader = YamlReader(file: file, bytes: bytes)
        let rules = RuleLoader(
            reader: reader, registry: registry, places: places, timeZone: timeZone, standardSettle: settle,
            tableFolder: tableFolder, isOthers: isOthers
        ).rules()
        return (rules, reader.diagnostics)
    }

    /// The rules without duplicate names, and for each duplicate a diagnostic with both positions.
    ///
    /// - Parameter isOthers: whether someone else maintains a rule: it then yields to the other one, with a warning.
    static func unique(
        _ rules: [Rule], isOthers: (Rule) -> Bool = { _ in false }
    ) -> ([Rule], [Diagnostic]) {
        struct Origin: Hashable {
            let file: String
            let position: SourcePosition

            init(_ rule: Rule) { (file, position) = (rule.file, rule.position) }
        }
        var first: [String: Rule] = [:]
        var given: Set<Origin> = []
        var diagnostics: [Diagnostic] = []
        for rule in rules.filter({ !isOthers($0) }) + rules.filter(isOthers) {
            guard let earlier = first[rule.name] else {
                first[rule.name] = rule
                continue
            }
            let name = "`\(printable(rule.name))`"
            let other = "\(earlier.file):\(earlier.position.line):\(earlier.position.column)"
            if isOthers(rule) {
                // Together with its `otherwise`, which is a rule of its own.
                given.insert(Origin(rule))
                let message = "this agent ignores the machine's rule \(name): there is another at \(other)"
                diagnostics.append(Diagnostic(file: rule.file, at: rule.position, message, severity: .warning))
            } else {
                let message = "there are two rules \(name): here and at \(other)"
                diagnostics.append(
                    Diagnostic(file: rule.file, at: rule.position, message, hint: "give one of them another name"))
            }
        }
        let kept = rules.filter { rule in
            !given.contains(Origin(rule)) && first[rule.name].map(Origin.init) == Origin(rule)
        }
        return (kept, diagnostics)
    }

    private static func names(
        in directory: BytePath, _ files: RuleFileReader, _ diagnostics: inout [Diagnostic]
    ) throws -> [[UInt8]] {
        var names: [[UInt8]] = []
        for name in try files.names(directory) where name.first != UInt8(ascii: ".") {
            if name.suffix(suffix.count).elementsEqual(suffix) {
                names.append(name)
            } else if name.suffix(4).elementsEqual(Array(".yml".utf8)) {
                let file = directory.appending(name: name).description
                let message = "this file is not read"
                diagnostics.append(
                    Diagnostic(file: file, at: .start, message, hint: "rule files end in `.yaml`", severity: .warning))
            }
        }
        return names
    }
}
