import Platform

/// Finds the rules that can match a file or folder by place, event and parts of its name, so that thousands of rules
/// cost about as much as a few. It leaves out only rules that cannot match.
package struct RuleIndex: Sendable {
    private struct Slot: Sendable {
        var byExtension: [String: [Int]] = [:]
        /// Rules whose names must contain a text, keyed by its least used trigram.
        var byBytes: [UInt32: [Int]] = [:]
        var others: [Int] = []

        mutating func add(_ number: Int, literals: [[UInt8]]) {
            for literal in literals {
                let fewest = RuleIndex.triples(of: literal).min {
                    (byBytes[$0]?.count ?? 0) < (byBytes[$1]?.count ?? 0)
                }
                if let fewest, byBytes[fewest]?.last != number { byBytes[fewest, default: []].append(number) }
            }
        }
    }

    private struct Key: Hashable, Sendable {
        let place: String
        let event: FileEvent
        let subject: RuleSubject
    }

    private var slots: [Key: Slot] = [:]

    init(_ rules: [Rule]) {
        for (number, rule) in rules.enumerated() {
            let extensions = rule.condition.extensions
            // Extensions have a faster index.
            let literals = rule.condition.literals.flatMap { all in
                all.allSatisfy { $0.count >= 3 && $0.first != UInt8(ascii: ".") } ? all : nil
            }
            for place in Set(rule.places.map(\.name)) {
                for event in rule.events {
                    let key = Key(place: place, event: event, subject: rule.subject)
                    if let literals {
                        slots[key, default: Slot()].add(number, literals: literals)
                    } else if let extensions {
                        for end in extensions {
                            slots[key, default: Slot()].byExtension[end, default: []].append(number)
                        }
                    } else {
                        slots[key, default: Slot()].others.append(number)
                    }
                }
            }
        }
    }

    /// Rule numbers, in ascending order.
    package func candidates(
        place: String, event: FileEvent, name: [UInt8], _ subject: RuleSubject = .files
    ) -> [Int] {
        guard let slot = slots[Key(place: place, event: event, subject: subject)] else { return [] }
        let name = name.composed
        let ending = Self.key(ofName: name).flatMap { slot.byExtension[$0] } ?? []
        var holding: Set<Int> = []
        if !slot.byBytes.isEmpty {
            for triple in Self.triples(of: name) {
                if let found = slot.byBytes[triple] { holding.formUnion(found) }
            }
        }
        if holding.isEmpty, ending.isEmpty { return slot.others }
        return (holding + ending + slot.others).sorted()
    }

    /// All trigrams of a text.
    private static func triples(of text: [UInt8]) -> some Sequence<UInt32> {
        (0..<max(0, text.count - 2)).lazy.map { at in
            UInt32(text[at]) << 16 | UInt32(text[at + 1]) << 8 | UInt32(text[at + 2])
        }
    }

    /// Whether a rule of the place is about this subject.
    func hasRules(place: String, _ subject: RuleSubject) -> Bool {
        slots.keys.contains { $0.place == place && $0.subject == subject }
    }

    /// The part after the last dot, in lower case; nil if there is none, or it is not ASCII.
    private static func key(ofName name: some BidirectionalCollection<UInt8>) -> String? {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let end = name[name.index(after: dot)...]
        guard end.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "/") }) else { return nil }
        return String(decoding: end, as: UTF8.self).lowercased()
    }

    /// The keys of names with one of these suffixes; nil if a suffix does not determine the key.
    static func keys(ofSuffixes suffixes: [[UInt8]]) -> Set<String>? {
        var keys: Set<String> = []
        for suffix in suffixes {
            guard let key = key(ofName: suffix) else { return nil }
            keys.insert(key)
        }
        return keys
    }
}
