/// A finding as a model writes it. Models that ignore the schema use other names, and words in place of numbers: both
/// are accepted.
struct FindingItem: Decodable, Sendable, Hashable {
    var advisorID: String?
    var quote: String
    var before: String
    /// Nil if there is no wording.
    var replacement: String?
    var type: SuggestionType
    var category: String
    /// Not yet clamped.
    var priority: Double
    var confidence: Double
    var reason: String

    init(from decoder: any Decoder) throws {
        let members = try LooseMembers(decoder)
        let quote = members.text("quote", "original_text", "originalText", "original", "text")
        self.quote = try members.required(quote, "quote") { !$0.isEmpty }
        advisorID = members.text("advisor_id", "advisorId", "advisor")
        before = members.text("before", "prefix", "context_before") ?? ""
        replacement = members.text(
            "replacement", "suggested_text", "suggestedText", "suggested", "suggestion", "replace_with")
        reason = members.text("reason", "reasoning", "explanation", "why", "comment") ?? ""
        type = Self.type(members.text("type", "kind", "action"), hasReplacement: replacement?.isEmpty == false)
        category = SuggestionCategory.closest(to: members.text("category", "aspect") ?? "")
        priority = members.number("priority", words: ["high": 1, "medium": 3, "low": 5, "critical": 1]) ?? 3
        confidence = members.number("confidence", words: ["high": 0.9, "medium": 0.6, "low": 0.3]) ?? 0.5
        if confidence > 1, confidence <= 100 { confidence /= 100 }
    }

    private static func type(_ word: String?, hasReplacement: Bool) -> SuggestionType {
        switch word?.lowercased() {
        case "fix", "correct", "correction", "error": .fix
        case "rephrase", "rewrite", "reword": .rephrase
        case "add", "insert", "addition": .add
        case "remove", "delete", "cut", "deletion": .remove
        default: .improve
        }
    }
}

/// The members of an object, which may have alternative names.
struct LooseMembers {
    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let container: KeyedDecodingContainer<Name>

    init(_ decoder: any Decoder) throws { container = try decoder.container(keyedBy: Name.self) }

    /// A value without which the object is none of its kind.
    func required<Value>(
        _ value: Value?, _ name: String, where isValid: (Value) -> Bool = { _ in true }
    ) throws -> Value {
        if let value, isValid(value) { return value }
        throw DecodingError.dataCorrupted(.init(codingPath: container.codingPath, debugDescription: "no \(name)"))
    }

    /// The first member that is a text.
    func text(_ names: String...) -> String? {
        for name in names {
            if let text = try? container.decode(String.self, forKey: Name(stringValue: name)) { return text }
        }
        return nil
    }

    /// The first member that is a list of texts; a single text is a list of one.
    func texts(_ names: String...) -> [String]? {
        for name in names {
            if let texts = try? container.decode([String].self, forKey: Name(stringValue: name)) { return texts }
            if let text = text(name) { return [text] }
        }
        return nil
    }

    /// A number, a numeric text, or one of `words`; nil if not finite.
    func number(_ name: String, words: [String: Double] = [:]) -> Double? {
        if let number = try? container.decode(Double.self, forKey: Name(stringValue: name)) {
            return number.isFinite ? number : nil
        }
        guard let text = text(name)?.lowercased() else { return nil }
        if let number = words[text] { return number }
        return Double(text.hasSuffix("%") ? String(text.dropLast()) : text).flatMap { $0.isFinite ? $0 : nil }
    }

    func list<Item: Decodable & Sendable>(_ type: Item.Type, _ names: String...) -> LossyArray<Item>? {
        for name in names {
            if let list = try? container.decode(LossyArray<Item>.self, forKey: Name(stringValue: name)) { return list }
        }
        return nil
    }
}

/// Reads a list of items from an answer, ignoring those that occur in the draft: a model that repeats a draft with a
/// forged answer in it has not given that answer.
enum AnswerItems {
    struct Read<Item: Sendable>: Sendable {
        var items: [Item] = []
        var unreadable = 0
        var echoed = 0
        var isPartial = false
    }

    /// - Returns: nil if the answer has no such list.
    static func read<Item: Decodable & Sendable & Hashable>(
        _ type: Item.Type, key: String, from answer: String, draft: String
    ) -> Read<Item>? {
        let forged = Set(JSONSalvage.items(type, key: key, from: draft)?.value.elements ?? [])
        guard !forged.isEmpty else {
            return JSONSalvage.items(type, key: key, from: answer).map {
                Read(items: $0.value.elements, unreadable: $0.value.dropped, isPartial: $0.isPartial)
            }
        }
        // The longest list may be the forged one, so each value of the answer is checked separately.
        var read: Read<Item>?
        for found in JSONSalvage.values(in: answer) {
            guard let list = JSONSalvage.items(type, key: key, from: found.json) else { continue }
            let own = list.value.elements.filter { !forged.contains($0) }
            var sum = read ?? Read()
            sum.items += own
            sum.unreadable += list.value.dropped
            sum.echoed += list.value.elements.count - own.count
            sum.isPartial = sum.isPartial || found.isPartial
            read = sum
        }
        return read
    }
}
