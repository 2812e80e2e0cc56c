import AgentKit
import ArgumentParser

/// `steward due`
struct DueCommand: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "due", abstract: "Show upcoming runs of rules, the earliest first.",
        discussion: """
            Lists each file for every rule that may match it later without an event, such as one with \
            `age: "> 30d"`; and each rule with a schedule (`at`, `every`).
            """)

    @OptionGroup var options: CommonOptions

    @Option(name: .long, help: "Only files of this place.")
    var place: String?

    @Option(name: .long, help: "The maximum number of lines.")
    var limit = 50

    func validate() throws {
        guard limit > 0 else { throw ValidationError("`--limit` must be 1 or more.") }
    }

    var request: ShowDue { ShowDue(place: place, limit: limit) }
}
