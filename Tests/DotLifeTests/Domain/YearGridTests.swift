import DotLifeDomain
import Foundation
import Testing

@Suite("The year")
struct YearGridTests {
    private let grids = GridAggregationService(bucketing: TimeBucketingService(zone: berlin))

    private func now() throws -> Date { try at("2026-03-05T20:20:00Z") }

    @Test("Every day of a year, up to its last instant, from one query")
    func days() async throws {
        let repository = CountingRepository(
            try ["2025-12-31T23:00:00Z", "2026-03-05T12:00:00Z", "2026-12-31T22:59:59Z"].map(at)
                + [try at("2026-12-31T22:59:59Z").addingTimeInterval(0.9), try at("2026-12-31T23:00:00Z")])
        let year = try await grids.yearGrid(containing: now(), now: now(), from: repository)
        #expect(year.days.count == 365)
        #expect(year.days.first?.id == "2026-01-01")
        #expect(year.days.last?.id == "2026-12-31")
        #expect(year.days.first?.experienceCount == 1)
        #expect(year.days.last?.experienceCount == 2)
        #expect(year.count == 4)
        #expect(year.days.filter(\.isFilled).count == 3)
        #expect(year.summary == "2026: 4 experiences")
        #expect(await repository.questions == 1)
    }

    @Test("Today, future days, and their names")
    func states() throws {
        let counts = try ["2026-03-04T23:00:00Z": 1, "2026-03-05T23:00:00Z": 2].reduce(into: [:]) {
            $0[try at($1.key)] = $1.value
        }
        let days = grids.yearGrid(containing: try now(), now: try now(), counts: counts).days
        #expect(days.filter(\.isToday).map(\.id) == ["2026-03-05"])
        #expect(days.filter(\.isFuture).count == 365 - 64)
        #expect(
            days[62...66].map(\.accessibleText) == [
                "March 4: no experiences", "Today, March 5: 1 experience", "March 6: future, 2 experiences",
                "March 7: future", "March 8: future",
            ])
    }

    @Test("Every year has all its days", arguments: [(2024, 366), (2025, 365), (1970, 365), (2100, 365), (2000, 366)])
    func anyYear(year: Int, days: Int) throws {
        let grid = grids.yearGrid(containing: try at("\(year)-07-01T00:00:00Z"), now: try now(), counts: [:])
        #expect(grid.title == String(year))
        #expect(grid.days.count == days)
        #expect(Set(grid.days.map(\.id)).count == days)
    }

    @Test("A year in which a zone skipped a day has one fewer")
    func skippedDay() throws {
        let samoa = GridAggregationService(timeZone: try #require(TimeZone(identifier: "Pacific/Apia")))
        let year = samoa.yearGrid(containing: try at("2011-06-01T00:00:00Z"), now: try now(), counts: [:])
        #expect(year.days.count == 364)
        #expect(!year.days.contains { $0.id == "2011-12-30" })
    }

    @Test("Rows are filled from 1 January on, and show which month begins in them")
    func rows() throws {
        let year = grids.yearGrid(containing: try now(), now: try now(), counts: [:])
        #expect(year.lines(columns: 20).map(\.count) == Array(repeating: 20, count: 18) + [5])
        #expect(year.lines(columns: 20).joined().map(\.id) == year.days.map(\.id))
        #expect(year.rowLabels(columns: 20).prefix(5) == ["Jan", "Feb", "Mar", "", "Apr"])
        #expect(year.rowLabels(columns: 20).filter { !$0.isEmpty }.count == 12)
    }

    @Test(
        "The layout follows the shape of the area, in 10 to 20 columns",
        arguments: [
            // Squares have 19 columns; 558 / (20 + 19 * 0.4) = 20.2 for 20 rows.
            (560.0, 560.0, 19, 20, 20.0, 8.0),
            // A phone: 388 x 842 has √(365 / 2.17) = 12.97 columns, and 388 / (13 + 12 * 0.4) = 21.8.
            (390.0, 844.0, 13, 29, 20.5, 8.0), (2000.0, 300.0, 20, 19, 11.0, 4.0), (100.0, 4000.0, 10, 37, 7.0, 2.5),
        ])
    func layout(width: Double, height: Double, columns: Int, rows: Int, dot: Double, spacing: Double) {
        let layout = YearLayout(width: width, height: height, days: 365)
        #expect(layout.columns == columns)
        #expect(layout.rows == rows)
        #expect(layout.dotSize == dot)
        #expect(layout.spacing == spacing)
    }

    @Test("Every layout fits its area, and all days have a place")
    func fits() {
        for width in stride(from: 3.0, through: 3000, by: 83.7) {
            for height in stride(from: 3.0, through: 3000, by: 71.3) {
                for days in [364, 365, 366] {
                    let layout = YearLayout(width: width, height: height, days: days)
                    #expect(layout.width <= width - 2 + 0.01)
                    #expect(layout.height <= height - 2 + 0.01)
                    #expect(layout.columns * layout.rows >= days)
                    #expect((10...20).contains(layout.columns))
                }
            }
        }
    }

    @Test(
        "An area without width or height has one place and no dot",
        arguments: [(0.0, 100.0), (100, 0), (-5, -5), (2, 100), (.nan, 10), (.infinity, 10)])
    func noRoom(width: Double, height: Double) {
        let layout = YearLayout(width: width, height: height, days: 365)
        #expect(layout.columns == 1)
        #expect(layout.rows == 1)
        #expect(layout.dotSize == 0)
        #expect(layout.width == 0)
    }
}
