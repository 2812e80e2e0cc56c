import Foundation
import Platform
import TestSupport
import Testing

@testable import TKCore

@Suite("The page of the quick pass's rules")
struct RulePageTests {
    @Test("Every rule has its section in docs/quick-rules.md, with its title, and no section is of another rule")
    func sections() throws {
        let page = try String(contentsOfFile: Checkout.root.text + "/docs/quick-rules.md", encoding: .utf8)
        let sections = page.components(separatedBy: "\n### ").dropFirst().map {
            $0.split(separator: "\n", omittingEmptySubsequences: true).prefix(2).map(String.init)
        }
        let resources = TKResources(folder: Checkout.root.appending("Sources/Core/TK/TKCore/Resources"))
        let rules = try QuickPass(resources: resources).rules
        #expect(Set(sections.map { $0[0] }) == Set(rules.map(\.id)))
        #expect(sections.count == rules.count)
        for rule in rules {
            let section = sections.first { $0[0] == rule.id }
            #expect(section?.last?.hasPrefix(rule.title) ?? false, "\(rule.id): \(section ?? [])")
        }
    }
}
