import Platform
import Rules

/// Why a rule of organize cannot be converted. Thrown for anything not understood, so that the whole rule is left out:
/// the missing part may be the one that protects a file.
struct OrganizeLoss: Error {
    let line: Int
    let message: String

    init(_ position: SourcePosition, _ message: String) {
        (line, self.message) = (position.line, message)
    }
}

/// A mapping in organize's file whose keys are consumed one by one. An unconsumed key is a loss.
struct OrganizeKeys {
    private var left: [YamlEntry]
    private let what: String

    /// - Parameters:
    ///   - node: nil or null for an empty mapping.
    ///   - bare: the key implied by a value that is not a mapping; nil if a mapping is required.
    ///   - body: consumes the keys that it knows.
    /// - Throws: the errors of `body`, and ``OrganizeLoss`` for the first key left over.
    static func read<R>(
        _ node: YamlNode?, _ what: String, bare: String? = nil,
        _ body: (inout OrganizeKeys) throws(OrganizeLoss) -> R
    ) throws(OrganizeLoss) -> R {
        var keys = try OrganizeKeys(node, what, bare: bare)
        let result = try body(&keys)
        if let key = keys.left.first {
            throw OrganizeLoss(
                key.keyPosition, "the key `\(printable(key.key))` of \(what) is not understood")
        }
        return result
    }

    private init(_ node: YamlNode?, _ what: String, bare: String?) throws(OrganizeLoss) {
        self.what = what
        guard let node, !node.isNull else {
            left = []
            return
        }
        if case .mapping(let entries) = node.content {
            left = entries
        } else if let bare {
            left = [YamlEntry(key: bare, keyPosition: node.position, value: node)]
        } else {
            throw OrganizeLoss(node.position, "\(what) must be a mapping of keys to values, not \(node.kindName)")
        }
    }

    mutating func take(_ key: String) -> YamlNode? {
        guard let index = left.firstIndex(where: { $0.key == key }) else { return nil }
        return left.remove(at: index).value
    }

    /// Consumes all remaining keys, for filters and actions that accept arbitrary ones.
    mutating func takeAll() -> [YamlEntry] {
        defer { left = [] }
        return left
    }

    mutating func text(_ key: String) throws(OrganizeLoss) -> String? {
        guard let node = take(key) else { return nil }
        return try node.organizeText("`\(key)` of \(what)")
    }

    /// One of several words; the first by default.
    mutating func choice(_ key: String, _ words: [String]) throws(OrganizeLoss) -> String {
        guard let node = take(key) else { return words[0] }
        guard let word = node.scalar, words.contains(word) else {
            throw OrganizeLoss(node.position, "`\(key)` of \(what) must be one of \(words.joined(separator: ", "))")
        }
        return word
    }

    mutating func boolean(_ key: String, default usual: Bool) throws(OrganizeLoss) -> Bool {
        guard let node = take(key) else { return usual }
        switch node.scalar?.lowercased() {
        case "true", "yes", "on", "t", "y", "1": return true
        case "false", "no", "off", "f", "n", "0": return false
        default: throw OrganizeLoss(node.position, "`\(key)` of \(what) must be true or false")
        }
    }

    /// A non-negative integer; nil if the key is missing.
    mutating func number(_ key: String) throws(OrganizeLoss) -> Int? {
        guard let node = take(key) else { return nil }
        guard let text = node.scalar, let number = Int(text), (0...1_000_000).contains(number),
            text.allSatisfy(\.isNumber)
        else { throw OrganizeLoss(node.position, "`\(key)` of \(what) must be a whole number") }
        return number
    }
}

extension YamlNode {
    /// Flattens nested lists as organize does; a single value becomes a list of one, null an empty list.
    var organizeItems: [YamlNode] {
        guard case .sequence(let items) = content else { return isNull ? [] : [self] }
        return items.flatMap { item in
            if case .sequence = item.content { return item.organizeItems }
            return [item]
        }
    }

    /// Text that Python's YAML parser reads as the same text.
    ///
    /// - Throws: ``OrganizeLoss`` for a node that is not text, and for unquoted text that Python reads as something
    ///   else: a boolean, a date, or a number that it formats differently.
    func organizeText(_ what: String) throws(OrganizeLoss) -> String {
        guard case .scalar(let text, let plain) = content, !isNull else {
            throw OrganizeLoss(position, "\(what) must be text, not \(kindName)")
        }
        guard plain, Self.isNoText(text) else { return text }
        throw OrganizeLoss(
            position, "\(what) is `\(printable(text))` without quotes, which organize does not read as text")
    }

    /// A list of such texts.
    func organizeTexts(_ what: String) throws(OrganizeLoss) -> [String] {
        var texts: [String] = []
        for item in organizeItems { texts.append(try item.organizeText(what)) }
        return texts
    }

    private static func isNoText(_ text: String) -> Bool {
        let word = text.lowercased()
        if ["true", "false", "yes", "no", "on", "off", "null", "~", "="].contains(word) { return true }
        guard let first = word.first, first.isNumber || "+-.".contains(first), word.contains(where: \.isNumber),
            word.allSatisfy({ $0.isHexDigit || "+-._:xot z".contains($0) })
        else { return [".inf", ".nan", "+.inf", "-.inf"].contains(word) }
        // A number that both format the same.
        return !(word.count < 16 && word.allSatisfy(\.isNumber) && (word == "0" || first != "0"))
    }
}
