import AgentKit
import ArgumentParser
import Platform

/// `steward counters`
struct CountersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counters", abstract: "Show and set the counters that rules draw numbers from.",
        subcommands: [List.self, Set.self], defaultSubcommand: List.self)

    struct List: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show which number comes next, and which were given.")

        @OptionGroup var options: CommonOptions

        var request: ListCounters { ListCounters() }
    }

    struct Set: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Set the number that a counter gives next.",
            discussion: "A number that was given is not given again, unless `--force` says so.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The counter: `invoices`, or `invoices@2026` for `counter:invoices@%Y`.") var name: String
        @Argument(help: "The number that comes next.") var number: Int64
        @Flag(help: "Also where numbers would be given a second time.") var force = false

        var request: SetCounter { SetCounter(name, next: number, isForced: force) }
    }
}
