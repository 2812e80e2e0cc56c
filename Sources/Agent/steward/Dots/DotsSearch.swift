import AgentKit
import ArgumentParser

/// `steward dots search`
struct DotsSearch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find captures by the words of their text, address or file names, the best first.",
        discussion: "Each word may be a prefix; case and accents do not matter.")

    @OptionGroup var options: DotsOptions

    @Argument(help: "The words; a capture must have all of them.")
    var words: [String]

    @Option(name: .long, help: "The maximum number of results.")
    var limit = 20

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be 1 or more") }
    }

    func run() async throws {
        try await options.with { dots in
            try await options.carryOut(SearchCaptures(words.joined(separator: " "), limit: limit), in: dots)
        }
    }
}
