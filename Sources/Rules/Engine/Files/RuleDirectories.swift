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
    ///     for a place, or for anything else, that is not configured is none of this agent's, and a warning says so.
    ///   - timeZone: for the templates' `date` filter.
    ///   - settle: seconds that a file must have stood still where a rule does not say.
    package static func load(
        _ directories: [BytePath], others: BytePath? = nil, _ files: RuleFileReader, registry: ActionRegistry,
        places: [PlaceInfo], timeZone: TimeZone, settle: Double = 1
    ) -> LoadedRules {
        var diagnostics: [Diagnostic] = []
        var byName: [[UInt8]: [BytePath]] = [:]
        for directory in directories {
            do {
                for name in try names(in: directory, files, &diagnostics) {
                    byName[name, default: []].append(directory.appending(name: name))
                }
            } catch {
                diagnostics.append(Diagnostic(file: directory.description, at: .start, explain(error)))
            }
        }
        var found: [RuleFile] = []
        var rules: [Rule] = []
        let shelf = TableShelf(files)
        for (_, paths) in byName.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard let winner = paths.last else { continue }
            found += paths.dropLast().map { RuleFile(path: $0, fate: .replaced, replacedBy: winner) }
            do {
                let bytes = try files.read(winner)
                found.append(RuleFile(path: winner, fate: bytes.isEmpty ? .mask : .used, replacedBy: nil))
                let (loaded, complaints) = parse(
                    file: winner.description, bytes: bytes, registry: registry, places: places, timeZone: timeZone,
                    settle: settle, tableFolder: TableFolder(folder: winner.parent, shelf: shelf),
                    isOthers: winner.parent == others)
                rules += loaded
                diagnostics += complaints
            } catch {
                found.append(RuleFile(path: winner, fate: .used, replacedBy: nil))
                diagnostics.append(Diagnostic(file: winner.description, at: .start, explain(error)))
            }
        }
        let (unique, duplicates) = unique(rules)
        diagnostics += shelf.diagnostics + duplicates + RuleCheck.warnings(unique)
        return LoadedRules(rules: unique, diagnostics: diagnostics, files: found)
    }

    /// The rules of one file's text, for editors and tests; names are not compared with other files', tables not read.
    package static func parse(
        file: String, bytes: [UInt8], registry: ActionRegistry, places: [PlaceInfo], timeZone: TimeZone,
        settle: Double = 1
    ) -> ([Rule], [Diagnostic]) {
        parse(
            file: file, bytes: bytes, registry: registry, places: places, timeZone: timeZone, settle: settle,
            tableFolder: nil)
    }

    private static func parse(
        file: String, bytes: [UInt8], registry: ActionRegistry, places: [PlaceInfo], timeZone: TimeZone, settle: Double,
        tableFolder: TableFolder?, isOthers: Bool = false
    ) -> ([Rule], [Diagnostic]) {
        let reader = YamlReader(file: file, bytes: bytes)
        let rules = RuleLoader(
            reader: reader, registry: registry, places: places, timeZone: timeZone, standardSettle: settle,
            tableFolder: tableFolder, isOthers: isOthers
        ).rules()
        return (rules, reader.diagnostics)
    }

    /// Rules whose names are their own, and an error for each other one that names both places.
    static func unique(_ rules: [Rule]) -> ([Rule], [Diagnostic]) {
        var first: [String: Rule] = [:]
        var kept: [Rule] = []
        var diagnostics: [Diagnostic] = []
        for rule in rules {
            if let earlier = first[rule.name] {
                let other = "\(earlier.file):\(earlier.position.line):\(earlier.position.column)"
                let message = "there are two rules `\(printable(rule.name))`: here and at \(other)"
                diagnostics.append(
                    Diagnostic(file: rule.file, at: rule.position, message, hint: "give one of them another name"))
            } else {
                first[rule.name] = rule
                kept.append(rule)
            }
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
