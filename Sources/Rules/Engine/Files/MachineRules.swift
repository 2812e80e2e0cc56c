import Platform

/// The machine's rule files, if someone else maintains them. An error in one of them stops only the machine's own
/// agent. Other agents keep their last version of that file, or do without it, and log a warning.
struct MachineRules {
    private let folder: BytePath?
    /// The last rules of each file; nil if the folder has not been read yet.
    private let before: [BytePath: [Rule]]?
    private var now: [BytePath: [Rule]] = [:]
    /// Whether the folder could not be read this time.
    private(set) var isClosed = false

    /// - Parameter folder: nil if this agent's owner maintains all folders.
    init(_ folder: BytePath?, before: [BytePath: [Rule]]?) { (self.folder, self.before) = (folder, before) }

    /// The rules of each file, for the next load; nil if not known.
    var result: [BytePath: [Rule]]? { folder == nil || isClosed ? before : now }

    /// The files of ``result``, by the names that rules use.
    var fileNames: Set<String> { Set((result ?? [:]).keys.map(\.description)) }

    func owns(_ file: BytePath) -> Bool { file.parent == folder }

    /// Records that the folder cannot be read.
    ///
    /// - Returns: its known files; nil if none are known, and thus not which other files they replace either.
    mutating func close(_ folder: BytePath, _ error: any Error) -> (files: [BytePath]?, warning: Diagnostic) {
        isClosed = true
        let what =
            before == nil
            ? "ignores them and the rules they may replace" : "keeps using the version that it read last"
        let message =
            "cannot read the machine's rules, so this agent \(what); ask the administrator for read access: \(explain(error))"
        let warning = Diagnostic(file: folder.description, at: .start, message, severity: .warning)
        return (before.map { Array($0.keys) }, warning)
    }

    /// Records a valid file.
    mutating func note(_ rules: [Rule], of file: BytePath) { now[file] = rules }

    /// The last rules of a file that cannot be used now.
    mutating func former(of file: BytePath) -> [Rule] {
        let rules = before?[file] ?? []
        now[file] = rules
        return rules
    }

    /// The diagnostics about an unusable file, as this agent reports them.
    func warnings(_ complaints: [Diagnostic], of file: BytePath) -> [Diagnostic] {
        let hasFormer = before?[file]?.isEmpty == false
        let what =
            hasFormer
            ? "this agent keeps using the earlier version of this file until the machine's administrator fixes it"
            : "this agent ignores this file until the machine's administrator fixes it"
        return complaints.map { $0.severity == .error ? $0.warning(what) : $0 }
    }
}

extension Diagnostic {
    /// The same as a warning that mentions the consequence.
    func warning(_ consequence: String) -> Diagnostic {
        Diagnostic(
            file: file, at: position, "\(consequence): \(message)", hint: hint, excerpt: excerpt, severity: .warning)
    }
}
