import Glibc

/// Permissions in chmod(1) syntax: octal, or changes to the existing ones.
struct ModeChange: Sendable, Equatable {
    private struct Clause: Equatable {
        /// The bits that may change.
        let who: mode_t
        let operation: Character
        /// The rights, for all three classes.
        let rights: mode_t
        /// `X`: adds execute permission if any class already has it.
        let executesIfAny: Bool
    }

    private let whole: mode_t?
    private let clauses: [Clause]

    /// nil if the text is not a mode, or sets setuid, setgid or sticky.
    init?(_ text: String) {
        if text.allSatisfy({ ("0"..."7").contains($0) }), (3...4).contains(text.count) {
            guard let mode = mode_t(text, radix: 8), mode <= 0o777 else { return nil }
            whole = mode
            clauses = []
            return
        }
        var found: [Clause] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let read = Self.clauses(part) else { return nil }
            found += read
        }
        whole = nil
        clauses = found
    }

    /// - Parameter mode: current mode; bits other than permissions are preserved.
    func applied(to mode: mode_t) -> mode_t {
        if let whole { return mode & ~0o777 | whole }
        return clauses.reduce(mode) { mode, clause in
            var rights = clause.rights
            if clause.executesIfAny, mode & 0o111 != 0 { rights |= 0o111 }
            return switch clause.operation {
            case "+": mode | rights & clause.who
            case "-": mode & ~(rights & clause.who)
            default: mode & ~clause.who | rights & clause.who
            }
        }
    }

    private static func clauses(_ text: Substring) -> [Clause]? {
        var rest = text
        var who: mode_t = 0
        let people: [Character: mode_t] = ["u": 0o700, "g": 0o070, "o": 0o007, "a": 0o777]
        while let first = rest.first, let bits = people[first] {
            who |= bits
            rest = rest.dropFirst()
        }
        var found: [Clause] = []
        while let operation = rest.popFirst() {
            guard "+-=".contains(operation) else { return nil }
            let letters = rest.prefix { !"+-=".contains($0) }
            rest = rest.dropFirst(letters.count)
            var rights: mode_t = 0
            for letter in letters {
                switch letter {
                case "r": rights |= 0o444
                case "w": rights |= 0o222
                case "x": rights |= 0o111
                case "X": continue
                default: return nil
                }
            }
            found.append(
                Clause(
                    who: who == 0 ? 0o777 : who, operation: operation, rights: rights,
                    executesIfAny: letters.contains("X")))
        }
        return found.isEmpty ? nil : found
    }
}
