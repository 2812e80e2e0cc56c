import Foundation
import JSONText

/// Which rules a file has matched: those that have wanted it as an arrival at one judgement or another.
package struct MatchedRules: Sendable, Equatable {
    /// The rules that were in force at its last judgement; see ``LedgerTransaction/rules(inSet:)``.
    package var ruleSet: String
    /// Of those, by name.
    package var rules: Set<String>

    package init(ruleSet: String, rules: Set<String>) {
        self.ruleSet = ruleSet
        self.rules = rules
    }
}

extension MatchedRules {
    /// - Returns: nil where the file or folder was not judged.
    init?(row: any SQLRow) throws {
        guard let ruleSet = try row["ruleSet"] as String? else { return nil }
        self.init(ruleSet: ruleSet, rules: LedgerTransaction.nameSet(try row["matched"] ?? "[]"))
    }
}

extension LedgerTransaction {
    static func json(_ names: Set<String>) throws -> String {
        try JSONText.line(names.sorted())
    }

    /// What a newer program has written in another way is as good as not known.
    static func nameSet(_ json: String) -> Set<String> {
        (try? JSONDecoder().decode(Set<String>.self, from: Data(json.utf8))) ?? []
    }
}
