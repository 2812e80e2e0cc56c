import Foundation
import Platform

/// What became of one rule file.
package struct RuleFile: Sendable, Codable, Equatable {
    package enum Fate: String, Sendable, Codable {
        case used
        /// A file of the same name in a later directory stands for it.
        case replaced
        /// It is empty, or a link to /dev/null, and so switches earlier files of its name off.
        case mask
    }

    package let path: BytePath
    package let fate: Fate
    /// The file that replaces it.
    package let replacedBy: BytePath?
}

/// All rules of some directories, with all complaints.
package struct LoadedRules: Sendable {
    /// The valid ones, in the order in which they run.
    package let rules: [Rule]
    /// In the order of the files, then of the lines.
    package let diagnostics: [Diagnostic]
    package let files: [RuleFile]
    /// What the agent has of each file that is the machine's and another's to mend, for the next reading; nil where that
    /// is not known.
    package let machineRules: [BytePath: [Rule]]?
}

/// How rule files are read: they are configuration, which links may lead to from anywhere, and this module reaches nothing
/// by a path. Blocks.
package struct RuleFileReader: Sendable {
    /// The names in a folder; none where it is not there.
    let names: @Sendable (BytePath) throws -> [[UInt8]]
    /// The bytes of a file, none for a link to /dev/null.
    let read: @Sendable (BytePath) throws -> [UInt8]

    /// Bytes that a rule file may have.
    package static let limit: Int64 = 1 << 24

    package init(
        names: @escaping @Sendable (BytePath) throws -> [[UInt8]],
        read: @escaping @Sendable (BytePath) throws -> [UInt8]
    ) {
        self.names = names
        self.read = read
    }
}

/// `rules.d` directories, as systemd and udev read theirs (docs/design/values.md): files `*.yaml` in the order of their
/// names across all directories; a file replaces those of its name in earlier directories, an empty one masks them.
package enum RuleDirectories {
    private static let suffix = Array(".yaml".utf8)

    /// Reads them. Blocks. A directory that is missing holds no rules.
    ///
    /// - Parameters:
    ///   - directories: the earliest, weakest one first.
    ///   - others: the one of them that is the machine's, where the configuration is another's: a rule there that asks
    ///     for a place, or for anything else, that is not configured is none of this agent's, and a warning says so. A
    ///     file there that cannot be used is another's to mend: a warning again, and never an error.
    ///   - before: what the last reading gave of that one's files, which stands for those that cannot be used now.
    ///   - timeZone: for the templates' `date` filter.
    ///   - settle: seconds that a file must have stood still where a rule does not say.
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
                // Which of the weaker files it replaces or masks is not known.
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

    /// The rules of one file's text, for editors and tests; names are not compared with other files', tables not read.
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

    /// Rules whose names are their own, and a complaint for each other one that names both places.
    ///
    /// - Parameter isOthers: whether a rule is another's to mend: it gives way, and a warning says so.
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
                // With what it says of the files that it does not want, which is another rule.
                given.insert(Origin(rule))
                let message = "this agent does without the machine's rule \(name): there is another at \(other)"
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
