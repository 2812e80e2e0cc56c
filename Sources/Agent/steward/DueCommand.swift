import AgentKit
import ArgumentParser

/// `steward due`
struct DueCommand: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "due", abstract: "Show what time alone will bring, the earliest first.",
        discussion: """
            A file stands here for each rule that may come to want it although nothing happens to it, such as one with \
            `age: "> 30d"`; and each rule that runs by a schedule (`at`, `every`).
            """)

    @OptionGroup var options: CommonOptions

    @Option(name: .long, help: "Only files of this place.")
    var place: String?

    @Option(name: .long, help: "How many lines.")
    var limit = 50

    func validate() throws {
        guard limit > 0 else { throw ValidationError("`--limit` must be 1 or more.") }
    }

    var request: ShowDue { ShowDue(place: place, limit: limit) }
}
