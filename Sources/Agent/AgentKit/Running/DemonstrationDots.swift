import Platform

/// Shows the captures in the demo.
struct DemonstrationDots {
    let directories: Directories
    let configuration: Configuration

    func run(_ tell: (String) -> Void) async throws {
        let dots = try await DotContext.open(directories, configuration) { _ in }
        let display = DotDisplay(timeZone: dots.timeZone)
        tell("\n$ steward dots today\n")
        let grid = ShowGrid(.today)
        for line in grid.lines(try await grid.run(in: dots), on: display) { tell(line.isEmpty ? "" : "  \(line)") }
        tell("\n  \(ShowGrid.legend)")
        tell("\n$ steward dots show")
        let listing = ShowCaptures("today")
        for line in listing.lines(try await listing.run(in: dots), on: display).dropFirst(2) { tell(line) }
        try await dots.close()
    }
}
