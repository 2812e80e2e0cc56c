import AgentKit
import ArgumentParser
import JSONText
import Platform
import Rules

/// `steward rules`
struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules", abstract: "Show, try and write rules.",
        subcommands: [
            List.self, RulesNew.self, RulesTry.self, RulesTest.self, RulesImport.self, Schema.self, Manual.self,
        ], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show the rules in the order they run.")

        @OptionGroup var options: CommonOptions

        struct Line: Encodable {
            let rule: String
            let source: String
            let places: [String]
            let events: [String]
            let actions: [String]
            let digest: String
        }

        func run() async throws {
            try await Output.guarding {
                let directories = try options.directories()
                let configuration = try options.configuration(directories)
                let loaded = try AgentCore.forPlanning(configuration, directories).loadRules()
                let list = loaded.rules.map { rule in
                    Line(
                        rule: rule.name, source: rule.source, places: rule.places.map(\.name),
                        events: rule.events.map(\.rawValue).sorted(), actions: rule.steps.map(\.declaration.name),
                        digest: rule.digest.description)
                }
                for diagnostic in loaded.diagnostics { Output.complain("\(diagnostic)") }
                let lines = list.map {
                    "\($0.rule)  [\($0.places.joined(separator: ", ")); \($0.events.joined(separator: ", "))]  "
                        + "\($0.actions.joined(separator: " → "))  \($0.source)"
                }
                try Output.show(list, lines: lines.isEmpty ? ["no rules"] : lines, json: options.json)
                if loaded.diagnostics.hasErrors { throw ExitCode(2) }
            }
        }
    }

    struct Schema: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema",
            abstract: "Print the JSON Schema of rule files, for editors that complete and check YAML.")

        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await Output.guarding { Output.json(RuleSchema.json(registry: try Documentation.registry()).indented) }
        }
    }

    struct Manual: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "manual", abstract: "Print the manual of rule files, as Markdown.")

        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await Output.guarding {
                let manual = RuleManual.markdown(registry: try Documentation.registry())
                if options.json {
                    Output.json(try JSONText.shown(["markdown": manual]))
                } else {
                    Output.document(manual)
                }
            }
        }
    }
}
