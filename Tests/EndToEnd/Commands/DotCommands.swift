import OwnFiles
import Platform
import TestSupport
import Testing

/// Runs `steward dots` in a home with a fixed time zone and current time.
protocol DotCommands {
    var steward: AgentFixture { get }
}

extension DotCommands {
    static func home() throws -> AgentFixture { try AgentFixture(configuration: "time-zone: Europe/Berlin") }

    /// The folder in which commands run.
    var home: BytePath { steward.home.path }

    /// Half past three in the afternoon, in the configured time zone.
    var now: [String] { ["--now", "2026-03-05T14:30:00Z"] }

    func dots(_ arguments: String..., input: String? = nil) throws -> AgentFixture.Result {
        try steward.shell([AgentFixture.binary, "dots"] + arguments + now, input: input)
    }

    func answer(_ arguments: String..., status: Int32 = 0) throws -> Answer {
        try steward.json(["dots"] + arguments + now, status: status)
    }

    func refusal(_ arguments: String...) throws -> String {
        let result = try steward.shell([AgentFixture.binary, "dots"] + arguments + now)
        #expect(result.status == 64, "\(arguments): \(result.output)\(result.errors)")
        return result.errors
    }

    /// A note at 7 and one at 3 this afternoon, a link at half past nine yesterday, a dot on Monday, one in two days.
    func fill() throws {
        try dots("add", "note", "--time", "07:10", "Swap the two chapters").check()
        try dots(
            "add", "note", "--time", "15:05", "--moment", "today", input: "Read the chapters aloud,\n then sleep\n"
        )
        .check()
        try dots("add", "link", "--time", "2026-03-04 21:30", "example.org/a?b=c").check()
        try dots("add", "dot", "--time", "2026-03-02", "--moment", "this week").check()
        try dots("add", "dot", "--time", "2026-03-07T12:00:00Z").check()
    }
}
