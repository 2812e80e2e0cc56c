import Foundation
import JSONText
import Platform

/// The rules that a file has matched as an arrival, in any of its judgements.
package struct MatchedRules: Sendable, Equatable {
    /// The rules in force at its last judgement; see ``LedgerTransaction/rules(inSet:)``.
    package var ruleSet: String
    /// The names of those that it matched.
    package var rules: Set<String>

    package init(ruleSet: String, rules: Set<String>) {
        self.ruleSet = ruleSet
        self.rules = rules
    }
}

extension MatchedRules {
    /// - Returns: nil if the file or folder was not judged.
    init?(row: any SQLRow) throws {
        guard let ruleSet = try row["ruleSet"] as String? else { return nil }
        self.init(ruleSet: ruleSet, rules: LedgerTransaction.nameSet(try row["matched"] ?? "[]"))
    }
}

extension LedgerTransaction {
    static func json(_ names: Set<String>) throws -> String {
        try JSONText.line(names.sorted())
    }

    /// An encoding from a newer version counts as unknown.
    static func nameSet(_ json: String) -> Set<String> {
        (try? JSONDecoder().decode(Set<String>.self, from: Data(json.utf8))) ?? []
    }
}
