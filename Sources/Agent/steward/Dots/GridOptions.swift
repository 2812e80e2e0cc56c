import AgentKit
import ArgumentParser
import Foundation
import Glibc
import Platform
import TKCommands

/// The grid's period, scale and format.
struct GridOptions: ParsableArguments {
    @Option(
        name: .long, help: "The day, week, month or year that contains this date: 2026-11-22, 2026-W47, 2026-11, 2026.")
    var date: String?

    @Option(name: .long, help: "The unit of a dot: hours, days, weeks or months.")
    var scale: String?

    @Option(name: .long, help: "One step `in` or `out`; may be given several times.")
    var zoom: [String] = []

    @Flag(name: .long, help: "A line of text for each dot, for screen readers.")
    var plain = false

    @Option(name: .long, help: "Write the grid as an SVG picture; `-` is standard output.", completion: .file())
    var svg: PathArgument?

    @Option(name: .long, help: "Write the grid as a PNG picture; `-` is standard output.", completion: .file())
    var png: PathArgument?

    @Option(name: .long, help: "A picture's colours: automatic, light or dark.")
    var theme = "automatic"

    @Flag(name: .shortAndLong, help: "Replace an existing picture.")
    var force = false

    func check(_ options: DotsOptions) throws {
        if let scale, !GridChoice.scales.contains(scale) {
            throw ValidationError("`\(scale)` is not a scale; use \(GridChoice.scales.joined(separator: ", "))")
        }
        if let wrong = zoom.first(where: { GridChoice.Step(rawValue: $0) == nil }) {
            throw ValidationError("`--zoom \(wrong)` is not valid; use `--zoom in` or `--zoom out`")
        }
        if !DotGridReport.themes.contains(theme) {
            throw ValidationError("`\(theme)` is not a theme; use \(DotGridReport.themes.joined(separator: ", "))")
        }
        let streams = [svg?.isStream == true, png?.isStream == true, options.json, plain].filter { $0 }.count
        if streams > 1 {
            throw ValidationError(
                "standard output takes one of --plain, --json and a picture; write the picture to a file")
        }
    }

    func show(_ view: GridChoice.View, _ options: DotsOptions) async throws {
        let command = ShowGrid(
            view, scale: scale, zoom: zoom.compactMap { GridChoice.Step(rawValue: $0) }, date: date)
        try await options.with { dots in
            let targets = try [(svg, "svg"), (png, "png")].compactMap { file, ending in
                try file.map { (target: try $0.target(replaces: force), ending: ending) }
            }
            let report = try await command.run(in: dots)
            for (target, ending) in targets {
                let picture =
                    ending == "svg"
                    ? Array(report.svg(theme: theme).utf8)
                    // The PNG renderer has no preference for light or dark.
                    : try await DotPicture.png(report.svg(theme: theme == "automatic" ? "light" : theme))
                let written = try await BlockingPool("dots.picture").run {
                    try target.deliver(named: Array("\(report.name).\(ending)".utf8)) {
                        try PictureTarget.write(picture, to: $0)
                    }
                }
                if let written, !options.json, !plain { Output.line("wrote \(written)") }
            }
            if plain { return Output.document(report.plain) }
            if options.json || targets.isEmpty { try options.show(report, of: command, in: dots) }
        }
    }
}
