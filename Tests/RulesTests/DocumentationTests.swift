import Foundation
import Platform
import Rules
import Testing

@Suite("Documents generated from rule declarations") struct DocumentationTests {
    @Test("The schema is valid JSON and mentions everything") func theSchemaIsJSONAndNamesEverything() throws {
        let text = RuleSchema.json(registry: registry).indented
        let schema = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
        let definitions = try #require(schema["$defs"] as? [String: Any])
        let actions = try #require(definitions["action"] as? [String: [String: Any]])
        #expect(actions.keys.sorted() == registry.names)
        for definition in registry.definitions {
            let properties = try #require(actions[definition.declaration.name]?["properties"] as? [String: Any])
            #expect(Set(properties.keys).isSuperset(of: definition.declaration.parameters.map(\.name)))
        }
        let conditions = try #require((definitions["where"] as? [String: Any])?["properties"] as? [String: Any])
        #expect(Set(conditions.keys) == Set(ConditionSpec.keys))
        let keys = try #require((definitions["rule"] as? [String: Any])?["properties"] as? [String: Any])
        #expect(Set(keys.keys) == Set(RuleKey.all.map(\.name)))
    }

    @Test("The manual mentions everything") func manualNamesEverything() {
        let manual = RuleManual.markdown(registry: registry)
        let names =
            RuleKey.all.map(\.name) + ConditionSpec.keys + TemplateFilter.all.map(\.name)
            + BuiltInValues.all.map(\.name)
            + registry.definitions.flatMap {
                [$0.declaration.name] + $0.declaration.parameters.map(\.name) + $0.declaration.provides.map(\.name)
            }
        for name in names where !manual.contains("`\(name)`") && !manual.contains("### \(name)\n") {
            Issue.record("the manual does not name \(name)")
        }
    }

    @Test(
        "Each condition's example loads",
        arguments: ConditionSpec.all.filter { $0.takes.contains(.files) }.map(\.example))
    func eachConditionExample(_ example: String) throws {
        _ = try rule(where: example, in: "[comics, other]")
    }

    @Test(
        "Each condition's example loads in folder rules, if it applies to folders",
        arguments: ConditionSpec.all.filter { $0.takes.contains(.folders) }.map(\.example))
    func eachFolderConditionExample(_ example: String) throws {
        let text = "rule: R\nin: [comics, other]\nmatch: folders\nwhere:\n  \(example)\ndo: trash\n"
        #expect(try rules(text).first?.subject == .folders)
    }

    @Test("Each key's example loads", arguments: RuleKey.all.map(\.example))
    func eachKeyExample(_ example: String) throws {
        let key = example.prefix { $0 != ":" }
        let others = ["rule: R", "in: other", "where: { extension: md }", "do: [trash]"]
            .filter { !$0.hasPrefix(key + ":") }
        // `otherwise` counts as a second rule.
        #expect(try rules((others + [example]).joined(separator: "\n")).count == (key == "otherwise" ? 2 : 1))
    }

    @Test("Each filter's example is valid", arguments: TemplateFilter.all.map(\.example))
    func eachFilterExample(_ example: String) throws {
        #expect(try Template(example).references.count == 1)
    }

    @Test("Each action's example loads", arguments: registry.definitions.map(\.declaration.example))
    func eachActionExample(_ example: String) throws {
        #expect(try rules("rule: R\nin: other\ndo:\n  \(example)\n").first?.steps.count == 1)
    }
}
