import DotLifeDomain
import Foundation
import Platform
import TestSupport
import Testing

/// Grids as text and as pictures, byte for byte as in `Tests/Fixtures/dots`.
///
/// `STEWARD_TEST_WRITE_GOLDEN=1` rewrites the files; review the changes before committing them.
@Suite("Drawn grids")
struct DrawnGridTests {
    struct Drawing: CustomTestStringConvertible, Sendable {
        let file: String
        let draw: @Sendable (Drawn) throws -> String
        var testDescription: String { file }
    }

    static let drawings: [Drawing] =
        ZoomLevel.allCases.flatMap { level in
            [
                Drawing(file: "\(level).txt") { TerminalGrid().text($0.grid(level)) },
                Drawing(file: "\(level).plain.txt") { TerminalGrid.plain($0.grid(level)) },
                Drawing(file: "\(level).svg") { SVGGrid().svg($0.grid(level)) },
            ]
        } + [
            Drawing(file: "year.txt") { TerminalGrid().text($0.year) },
            Drawing(file: "year-narrow.txt") { TerminalGrid(width: 40, height: 30).text($0.year) },
            Drawing(file: "year.plain.txt") { TerminalGrid.plain($0.year) },
            Drawing(file: "year.svg") { SVGGrid().svg($0.year) },
            Drawing(file: "year-dark.svg") { SVGGrid(theme: .dark).svg($0.year) },
            Drawing(file: "monthByDays-coloured.txt") { TerminalGrid(hasColour: true).text($0.grid(.monthByDays)) },
            Drawing(file: "monthByDays-light.svg") { SVGGrid(theme: .light).svg($0.grid(.monthByDays)) },
            Drawing(file: "shifted-day.txt") { TerminalGrid().text(try $0.shiftedDay()) },
            Drawing(file: "shifted-day.plain.txt") { TerminalGrid.plain(try $0.shiftedDay()) },
        ]

    @Test("Each matches its reference", arguments: drawings)
    func golden(_ drawing: Drawing) throws {
        let drawn = try drawing.draw(try Drawn())
        let file = Checkout.root.appending("Tests/Fixtures/dots").appending(BytePath(drawing.file)).text
        if ProcessInfo.processInfo.environment["STEWARD_TEST_WRITE_GOLDEN"] == "1" {
            try Data(drawn.utf8).write(to: URL(fileURLWithPath: file))
        }
        #expect(drawn == String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self))
    }

    @Test("No line of text ends in a blank, and every dot appears once", arguments: ZoomLevel.allCases)
    func lines(_ level: ZoomLevel) throws {
        let grid = try Drawn().grid(level)
        let text = TerminalGrid().text(grid)
        #expect(text.split(separator: "\n").allSatisfy { $0.last != " " })
        #expect(text.filter { "●○·".contains($0) }.count == grid.dots.count)
        #expect(text.filter { $0 == "●" }.count == grid.dots.filter { $0.isFilled }.count)
        #expect(text.filter { $0 == "[" }.count == 1)
    }

    @Test("A picture is well-formed, and describes each dot", arguments: ZoomLevel.allCases, SVGTheme.allCases)
    func wellFormed(level: ZoomLevel, theme: SVGTheme) throws {
        let grid = try Drawn().grid(level)
        #expect(try titles(of: SVGGrid(theme: theme).svg(grid)) == [grid.summary] + grid.dots.map(\.accessibleText))
    }

    @Test(
        "The years are complete at every size", arguments: [(80, 24), (40, 24), (10, 80), (400, 10), (0, 0), (-3, 7)])
    func years(width: Int, height: Int) throws {
        let year = try Drawn().year
        let text = TerminalGrid(width: width, height: height).text(year)
        #expect(text.filter { "●○·".contains($0) }.count == 365)
    }
}

/// Captures of early 2026 in New York, by a deterministic rule, at 15:20 on Thursday 5 March.
struct Drawn {
    private let grids = GridAggregationService(timeZone: newYork)
    private let now: Date

    init() throws { now = try at("2026-03-05T20:20:00Z") }

    func grid(_ level: ZoomLevel) -> DotGrid {
        grids.grid(at: level, containing: now, now: now, counts: counts(grids.buckets(of: level, containing: now)))
    }

    var year: YearGrid {
        grids.yearGrid(
            containing: now, now: now, counts: counts(grids.bucketing.dayBuckets(ofYearContaining: now)))
    }

    /// The clocks are put back: 25 hours.
    func shiftedDay() throws -> DotGrid {
        let day = try at("2026-11-01T12:00:00Z")
        return grids.grid(
            at: .dayByHours, containing: day, now: day.addingTimeInterval(86_400),
            counts: counts(grids.buckets(of: .dayByHours, containing: day)))
    }

    /// None, one, two or more in past and present; one that is planned.
    private func counts(_ buckets: [TimeBucket]) -> [Date: Int] {
        let planned = buckets.first { $0.start > now.addingTimeInterval(20 * 86_400) } ?? buckets.last
        return buckets.enumerated().reduce(into: [:]) { counts, item in
            let (index, bucket) = item
            if bucket.start <= now || bucket.start > now.addingTimeInterval(200 * 86_400) && buckets.count == 25 {
                counts[bucket.start] = [1, 0, 3, 0, 0, 2, 1, 1, 0, 12, 0, 1, 0, 2, 0][(index * index + index / 3) % 15]
            } else if bucket == planned {
                counts[bucket.start] = 1
            }
        }
    }
}

/// The texts of a picture's titles.
///
/// - Throws: `TestFailure` if its elements do not nest, or something is not escaped.
private func titles(of svg: String) throws -> [String] {
    var (open, found, rest): ([Substring], [String], Substring) = ([], [], svg.dropFirst(svg.firstLine.count))
    while let match = rest.firstMatch(of: /<(\/?)([a-z]+)(?: [a-zA-Z:-]+="[^"<>&]*")*(\/?)>/) {
        let text = rest[..<match.range.lowerBound]
        if text.contains(/[<>]|&(?!amp;|lt;|gt;)/) { throw TestFailure("not escaped: \(text)") }
        if open.last == "title" { found.append(String(text)) }
        if match.1 == "/" {
            guard open.popLast() == match.2 else { throw TestFailure("\(match.0) closes another element") }
        } else if match.3 != "/" {
            open.append(match.2)
        }
        rest = rest[match.range.upperBound...]
    }
    guard open.isEmpty, rest == "\n" else { throw TestFailure("left open: \(open) \(rest)") }
    return found
}

extension String {
    fileprivate var firstLine: Substring { prefix { $0 != "\n" } }
}
