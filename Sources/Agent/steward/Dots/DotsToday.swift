import AgentKit
import ArgumentParser
import Glibc
import Platform

/// `steward dots today`
struct DotsToday: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "today", abstract: "A day hour by hour.",
        discussion: "Wider: the week, the month by days (by weeks with --scale), the year by months.")

    @OptionGroup var options: DotsOptions
    @OptionGroup var grid: GridOptions

    func validate() throws { try grid.check(options) }
    func run() async throws { try await grid.show(.today, options) }
}
