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
            commandName: "list", abstract: "Show each counter's next number, and the ones used.")

        @OptionGroup var options: CommonOptions

        var request: ListCounters { ListCounters() }
    }

    struct Set: RequestCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Set a counter's next number.",
            discussion: "A number is never used twice, except with `--force`.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The counter: `invoices`, or `invoices@2026` for `counter:invoices@%Y`.") var name: String
        @Argument(help: "The next number.") var number: Int64
        @Flag(help: "Set it even if numbers would be used again.") var force = false

        var request: SetCounter { SetCounter(name, next: number, isForced: force) }
    }
}
