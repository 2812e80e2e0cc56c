import AgentKit
import ArgumentParser
import Glibc
import Platform

/// `steward dots month`
struct DotsMonth: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "month", abstract: "A month day by day, or by weeks with `--scale weeks`.")

    @OptionGroup var options: DotsOptions
    @OptionGroup var grid: GridOptions

    func validate() throws { try grid.check(options) }
    func run() async throws { try await grid.show(.month, options) }
}
