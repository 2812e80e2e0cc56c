import Platform

/// Finds the rules that can match a file or a folder by place, event and the end of its name, so that thousands of rules cost
/// what a few do. It only leaves out rules that cannot match.
package struct RuleIndex: Sendable {
    private struct Slot: Sendable {
        var byExtension: [String: [Int]] = [:]
        var others: [Int] = []
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
            for place in Set(rule.places.map(\.name)) {
                for event in rule.events {
                    let key = Key(place: place, event: event, subject: rule.subject)
                    if let extensions {
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

    /// Numbers of rules, ascending.
    package func candidates(
        place: String, event: FileEvent, name: [UInt8], _ subject: RuleSubject = .files
    ) -> [Int] {
        guard let slot = slots[Key(place: place, event: event, subject: subject)] else { return [] }
        let ending = Self.key(ofName: name).flatMap { slot.byExtension[$0] } ?? []
        if ending.isEmpty { return slot.others }
        if slot.others.isEmpty { return ending }
        return (ending + slot.others).sorted()
    }

    /// Whether a rule of the place is about such.
    func hasRules(place: String, _ subject: RuleSubject) -> Bool {
        slots.keys.contains { $0.place == place && $0.subject == subject }
    }

    /// What stands after the last dot, in lower case; nil where there is none or it is not ASCII.
    private static func key(ofName name: some BidirectionalCollection<UInt8>) -> String? {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let end = name[name.index(after: dot)...]
        guard end.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "/") }) else { return nil }
        return String(decoding: end, as: UTF8.self).lowercased()
    }

    /// The keys of names that end in one of `suffixes`; nil where one of them leaves the key open.
    static func keys(ofSuffixes suffixes: [[UInt8]]) -> Set<String>? {
        var keys: Set<String> = []
        for suffix in suffixes {
            guard let key = key(ofName: suffix) else { return nil }
            keys.insert(key)
        }
        return keys
    }
}
