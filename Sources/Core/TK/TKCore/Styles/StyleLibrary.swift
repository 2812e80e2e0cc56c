import Glibc
import OwnFiles
import Platform

/// The styles that a `.vale.ini` names, compiled once. Reading them blocks briefly.
package struct StyleLibrary: Sendable {
    private(set) var settings: StyleSettings
    /// By name.
    private(set) var rules: [StyleRule] = []
    /// What could not be read, and why; the other rules are in force.
    package private(set) var problems: [FileProblem] = []
    /// The compiled `BlockIgnores` and `TokenIgnores`.
    private(set) var ignores: [String: StylePattern] = [:]

    /// What was read or looked for, with its version then; nil for what did not exist.
    private var versions: [BytePath: Fingerprint?] = [:]
    /// Of all that was read.
    private var hashes: [String] = []
    /// Only while it is being made: it may hold open files.
    private var reader: ProjectReader

    /// Vale's names of its settings, in its order.
    package static let names = [".vale", "_vale", "vale.ini", ".vale.ini", "_vale.ini"]
    private static let mostRules = 10_000

    /// The settings for a draft: in its folder or the nearest one above, as Vale finds them; nil if there are none.
    ///
    /// Those of other users than the draft's, this one and root do not count: a file in `/tmp` is not about the drafts
    /// below it.
    package static func settings(for draft: BytePath, _ reader: ProjectReader = .paths) throws -> BytePath? {
        var folder = draft.parent
        let owner = try reader.status(draft)?.owner
        while true {
            for name in names {
                let path = folder.appending(name)
                if let status = try reader.status(path), status.kind == .file,
                    [owner, getuid(), 0].contains(status.owner)
                {
                    return path
                }
            }
            let parent = folder.parent
            if folder == reader.top || parent == folder || parent.isEmpty { return nil }
            folder = parent
        }
    }

    /// - Parameter path: an absolute path, to whose folder the paths in it refer.
    /// - Throws: `Fault` if the settings themselves cannot be read; a rule that cannot be used is one of ``problems``.
    package init(settings path: BytePath, _ reader: ProjectReader = .paths) throws {
        self.reader = reader
        settings = StyleSettings("", path: path)
        let text = String(decoding: try read(path), as: UTF8.self)
        settings = StyleSettings(text, path: path)
        problems = settings.problems
        let (accepted, rejected) = vocabulary()
        let mentioned = settings.mentioned
        let alone = Set(mentioned.rules.map { $0.prefix { $0 != "." } }.map(String.init))
        for style in mentioned.styles.union(alone).sorted() {
            if style == "Vale" {
                addOwn(accepted: accepted, rejected: rejected)
            } else {
                let wanted = mentioned.styles.contains(style) ? nil : mentioned.rules
                load(style, wanted: wanted, accepted: accepted)
            }
        }
        for section in settings.sections {
            for (pattern, line) in section.ignores {
                ignores[pattern] = StylePattern(pattern)
                if ignores[pattern] == nil {
                    problems.append(
                        FileProblem(path: path, line: line, message: "`\(pattern)` is no regular expression"))
                }
            }
        }
        self.reader = .paths
    }

    /// Equal for equal settings and styles.
    package var hash: ContentHash { ContentHash(of: Array(hashes.joined(separator: "\n").utf8)) }

    /// Whether nothing of it has changed on disk.
    func isCurrent(_ reader: ProjectReader) throws -> Bool {
        try versions.allSatisfy { path, version in try reader.status(path)?.fingerprint == version }
    }

    private mutating func read(_ path: BytePath) throws -> [UInt8] {
        versions[path] = .some(try reader.status(path)?.fingerprint)
        let bytes = try reader.read(path)
        hashes.append("\(path) \(ContentHash(of: bytes))")
        return bytes
    }

    private mutating func names(in folder: BytePath) throws -> [BytePath] {
        versions[folder] = .some(try reader.status(folder)?.fingerprint)
        return try reader.names(folder).map { BytePath(bytes: $0) }.sorted()
    }

    private mutating func load(_ style: String, wanted: Set<String>?, accepted: [String]) {
        // A style is a folder beside the others.
        guard !style.contains("/"), style != ".." else { return }
        let folder = settings.stylesFolder.appending(name: style.utf8)
        do {
            let files = try names(in: folder).filter { file in
                let suffix = file.stemAndExtension.extension.map { String(decoding: $0, as: UTF8.self) }
                return suffix == "yml" || suffix == "yaml"
            }
            if files.isEmpty {
                let message =
                    "there is no style `\(style)` in \(settings.stylesFolder); copy it there, or run `vale sync`"
                problems.append(FileProblem(path: settings.path, line: nil, message: message))
            }
            for file in files where rules.count < Self.mostRules {
                let name = style + "." + String(decoding: file.stemAndExtension.stem, as: UTF8.self)
                if let wanted, !wanted.contains(name) { continue }
                add(name, folder.appending(file), accepted)
            }
        } catch {
            problems.append(FileProblem(path: folder, line: nil, message: explain(error)))
        }
    }

    private mutating func add(_ name: String, _ path: BytePath, _ accepted: [String]) {
        do {
            let file = try StyleFile(String(decoding: try read(path), as: UTF8.self), path: path)
            var ignored: Set<String> = []
            for list in try file.texts("ignore") { ignored.formUnion(try words(list, file)) }
            let level = settings.level(of: name)
            let reader = StyleRuleReader(
                file: file, name: name, level: level, accepted: accepted, ignored: ignored)
            rules.append(try reader.rule())
        } catch {
            problems.append(
                error as? FileProblem ?? FileProblem(path: path, line: nil, message: explain(error)))
        }
    }

    // MARK: Words

    /// The words of a list that a `spelling` rule names, in lower case.
    private mutating func words(_ list: String, _ file: StyleFile) throws -> Set<String> {
        guard !list.hasPrefix("/"), !list.split(separator: "/").contains("..") else {
            throw file.problem("ignore", "a list of words is in the folder of the styles")
        }
        for folder in [settings.stylesFolder, settings.stylesFolder.appending("config/ignore")] {
            if let words = try words(folder.appending(list)) { return words }
        }
        throw file.problem("ignore", "there is no list of words `\(list)` in \(settings.stylesFolder)")
    }

    /// nil if there is no such file.
    private mutating func words(_ path: BytePath) throws -> Set<String>? {
        do {
            let text = String(decoding: try read(path), as: UTF8.self)
            return Set(text.split(whereSeparator: \.isWhitespace).map { $0.lowercased() })
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
            return nil
        }
    }

    /// The words of all lists in `config/ignore` and its folders.
    private mutating func allWords() -> Set<String> {
        var words: Set<String> = []
        var folders = [settings.stylesFolder.appending("config/ignore")]
        do {
            while let folder = folders.popLast(), versions.count < Self.mostRules {
                for name in try names(in: folder) {
                    let path = folder.appending(name)
                    switch try reader.status(path)?.kind {
                    case .directory: folders.append(path)
                    case .file: words.formUnion(try self.words(path) ?? [])
                    default: continue
                    }
                }
            }
        } catch {
            problems.append(FileProblem(path: settings.stylesFolder, line: nil, message: explain(error)))
        }
        return words
    }

    // MARK: Vocabularies

    /// The patterns of `accept.txt` and `reject.txt`, one a line.
    private mutating func vocabulary() -> (accepted: [String], rejected: [String]) {
        var lists: [String: [String]] = [:]
        for vocabulary in settings.vocabularies where !vocabulary.split(separator: "/").contains("..") {
            var isFound = false
            for folder in ["config/vocabularies", "Vocab"] {
                for name in ["accept", "reject"] {
                    let path = settings.stylesFolder.appending(folder).appending(vocabulary).appending("\(name).txt")
                    do {
                        let text = String(decoding: try read(path), as: UTF8.self)
                        isFound = true
                        lists[name, default: []] += patterns(text, path)
                    } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
                        continue
                    } catch {
                        problems.append(FileProblem(path: path, line: nil, message: explain(error)))
                    }
                }
            }
            if !isFound {
                let message = "there is no vocabulary `\(vocabulary)` in \(settings.stylesFolder)"
                problems.append(FileProblem(path: settings.path, line: nil, message: message))
            }
        }
        return (lists["accept"] ?? [], lists["reject"] ?? [])
    }

    private mutating func patterns(_ text: String, _ path: BytePath) -> [String] {
        var patterns: [String] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let pattern = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            guard !pattern.isEmpty, !pattern.hasPrefix("# ") else { continue }
            if StylePattern(pattern) == nil {
                problems.append(
                    FileProblem(path: path, line: index + 1, message: "`\(pattern)` is no regular expression"))
            } else {
                patterns.append(pattern)
            }
        }
        return patterns
    }

    /// The rules of the style `Vale`, which belong to the program.
    private mutating func addOwn(accepted: [String], rejected: [String]) {
        let longest = accepted.sorted { $0.count > $1.count }.joined(separator: "|")
        let excepted = accepted.isEmpty ? nil : StylePattern(#"\b(?:"# + longest + #")\b"#)
        // Only plain words have a spelling of their own.
        let terms = accepted.filter { $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" } }
        if let patterns = Self.words(terms.sorted { $0.count > $1.count }, ignoresCase: true) {
            let replacements = terms.sorted { $0.count > $1.count }.map { StyleRule.Replacement(text: $0) }
            addOwn(
                "Vale.Terms", "Use '%s' instead of '%s'.", .substitution(patterns, replacements, capitalizes: false))
        }
        if let patterns = Self.words(rejected, ignoresCase: false) {
            addOwn("Vale.Avoid", "Avoid using '%s'.", .existence(patterns))
        }
        if let pattern = StylePattern(#"[^\s]+"#) {
            addOwn(
                "Vale.Repetition", "'%s' is repeated!", .repetition(pattern, max: 0, onlyLetters: true),
                exceptions: excepted)
        }
        addOwn(
            "Vale.Spelling", "Did you really mean '%s'?",
            .spelling(filters: StyleRuleReader.usualFilters, known: allWords()), exceptions: excepted)
    }

    private mutating func addOwn(
        _ name: String, _ message: String, _ check: StyleRule.Check, exceptions: StylePattern? = nil
    ) {
        rules.append(
            StyleRule(
                name: name, level: settings.level(of: name) ?? .error, message: message, link: nil, scopes: [.text],
                ignoresCase: false, exceptions: exceptions, action: nil, limit: nil, check: check))
    }

    /// nil without patterns.
    private static func words(_ patterns: [String], ignoresCase: Bool) -> StyleAlternation? {
        guard !patterns.isEmpty else { return nil }
        let choices = patterns.enumerated().map { StyleAlternation.Choice(pattern: $1, index: $0) }
        return StyleAlternation(choices) { (ignoresCase ? "(?i)" : "") + #"(?m)\b(?:"# + $0 + #")\b"# }
    }
}
