import Platform

/// The rule files of the machine, where they are another's to mend: what is wrong with one stops no agent but the machine's
/// own. Any other goes on with what it had of that file, or does without it, and says so.
struct MachineRules {
    private let folder: BytePath?
    /// What the agent had of each file; nil where it has not read the folder so far.
    private let before: [BytePath: [Rule]]?
    private var now: [BytePath: [Rule]] = [:]
    /// Whether the folder could not be read this time.
    private(set) var isClosed = false

    /// - Parameter folder: nil where no folder is another's.
    init(_ folder: BytePath?, before: [BytePath: [Rule]]?) { (self.folder, self.before) = (folder, before) }

    /// What the agent has of each file from now on, for the next reading; nil where that is not known.
    var result: [BytePath: [Rule]]? { folder == nil || isClosed ? before : now }

    /// The files of ``result``, as rules name theirs.
    var fileNames: Set<String> { Set((result ?? [:]).keys.map(\.description)) }

    func owns(_ file: BytePath) -> Bool { file.parent == folder }

    /// The folder cannot be read.
    ///
    /// - Returns: the files that are known to lie in it; nil where none is known, nor which files of other folders they
    ///   replace.
    mutating func close(_ folder: BytePath, _ error: any Error) -> (files: [BytePath]?, warning: Diagnostic) {
        isClosed = true
        let what =
            before == nil
            ? "this agent does without the machine's rules, and without those that they may replace,"
            : "this agent keeps to the machine's rules as it has read them before,"
        let message = "\(what) until the machine's administrator lets it read them: \(explain(error))"
        let warning = Diagnostic(file: folder.description, at: .start, message, severity: .warning)
        return (before.map { Array($0.keys) }, warning)
    }

    /// Takes note of a file that is valid.
    mutating func note(_ rules: [Rule], of file: BytePath) { now[file] = rules }

    /// The rules that stand for those of a file that cannot be used.
    mutating func former(of file: BytePath) -> [Rule] {
        let rules = before?[file] ?? []
        now[file] = rules
        return rules
    }

    /// The complaints about a file that cannot be used, as this agent tells of them.
    func warnings(_ complaints: [Diagnostic], of file: BytePath) -> [Diagnostic] {
        let hasFormer = before?[file]?.isEmpty == false
        let what =
            hasFormer
            ? "this agent keeps to what this file has said before, until the machine's administrator mends it"
            : "this agent does without this file until the machine's administrator mends it"
        return complaints.map { $0.severity == .error ? $0.warning(what) : $0 }
    }
}

extension Diagnostic {
    /// The same as a warning, with what follows from it.
    func warning(_ consequence: String) -> Diagnostic {
        Diagnostic(
            file: file, at: position, "\(consequence): \(message)", hint: hint, excerpt: excerpt, severity: .warning)
    }
}
