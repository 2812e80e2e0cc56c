import AgentKit
import ArgumentParser
import Glibc
import Platform

/// `steward dots week`
struct DotsWeek: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "week", abstract: "A week day by day, from Monday.",
        discussion: "Wider: the month by days (by weeks with --scale), the year by months.")

    @OptionGroup var options: DotsOptions
    @OptionGroup var grid: GridOptions

    func validate() throws { try grid.check(options) }
    func run() async throws { try await grid.show(.week, options) }
}
