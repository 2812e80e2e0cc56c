/// Vale's `action`: the change that a rule proposes.
struct StyleAction: Sendable {
    enum Kind: Sendable {
        case replace(String?)
        case remove
        case edit(Edit)
    }

    enum Edit: Sendable {
        case regex(StylePattern, String)
        case trim(Set<Character>, left: Bool, right: Bool)
        case truncate(Character)
        case split(Character, Int)
    }

    var kind: Kind

    /// nil for an action without a proposal of its own, such as `suggest`.
    init?(_ name: String, _ parameters: [String]) {
        switch (name, parameters.first) {
        case ("replace", _): kind = .replace(parameters.first)
        case ("remove", _): kind = .remove
        case ("edit", let verb?):
            guard let edit = Self.edit(verb, Array(parameters.dropFirst())) else { return nil }
            kind = .edit(edit)
        default: return nil
        }
    }

    private static func edit(_ verb: String, _ values: [String]) -> Edit? {
        guard let first = values.first else { return nil }
        switch verb {
        case "regex":
            guard values.count > 1, let pattern = StylePattern(first) else { return nil }
            return .regex(pattern, values[1])
        case "trim": return .trim(Set(first), left: true, right: true)
        case "trim_left": return .trim(Set(first), left: true, right: false)
        case "trim_right": return .trim(Set(first), left: false, right: true)
        case "truncate": return first.first.map { .truncate($0) }
        case "split":
            guard let mark = first.first, values.count > 1, let number = Int(values[1]) else { return nil }
            return .split(mark, number)
        default: return nil
        }
    }

    /// The words to put in place of those found; nil without a proposal.
    func proposal(for words: String, _ budget: inout StylePattern.Budget) -> String? {
        switch kind {
        case .replace(let text): return text
        case .remove: return ""
        case .edit(.regex(let pattern, let template)): return pattern.replacing(in: words, with: template, &budget)
        case .edit(.trim(let characters, let left, let right)):
            var rest = Substring(words)
            while left, let first = rest.first, characters.contains(first) { rest.removeFirst() }
            while right, let last = rest.last, characters.contains(last) { rest.removeLast() }
            return String(rest)
        case .edit(.truncate(let mark)): return String(words.prefix { $0 != mark })
        case .edit(.split(let mark, let number)):
            let parts = words.split(separator: mark, omittingEmptySubsequences: false)
            return parts.indices.contains(number) ? String(parts[number]) : nil
        }
    }
}
