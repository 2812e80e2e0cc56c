import AgentKit
import ArgumentParser
import Glibc
import Platform

/// `steward dots year`
struct DotsYear: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "year", abstract: "A year day by day, or by months with `--scale months`.")

    @OptionGroup var options: DotsOptions
    @OptionGroup var grid: GridOptions

    func validate() throws { try grid.check(options) }
    func run() async throws { try await grid.show(.year, options) }
}
