import Platform

/// The demo's look at what was captured.
struct DemonstrationDots {
    let directories: Directories
    let configuration: Configuration

    func run(_ tell: (String) -> Void) async throws {
        let context = try await DotContext.open(directories, configuration) { _ in }
        tell("\n$ steward dots today\n")
        let grid = try await DotGridReport(GridChoice(.today, scale: nil, steps: []), date: nil, context)
        for line in grid.text(hasColour: false, width: nil).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast()
        {
            tell(line.isEmpty ? "" : "  \(line)")
        }
        tell("\n  \(DotGridReport.legend)")
        tell("\n$ steward dots show")
        let listing = try await CaptureListing(context.bucket("today"), context)
        for line in listing.lines(width: nil).dropFirst(2) { tell(line) }
        try await context.close()
    }
}
