import DotLifeDomain
import Foundation
import Testing

@Suite("Grids of dots")
struct DotGridTests {
    private let grids = GridAggregationService(timeZone: newYork)

    /// A Thursday, 5 March 2026, 15:20 in New York.
    private func now() throws -> Date { try at("2026-03-05T20:20:00Z") }

    @Test("A dot is filled if and only if its bucket has an experience, in past, present and future")
    func filled() async throws {
        let repository = CountingRepository(
            try [
                "2026-03-05T05:00:00Z", "2026-03-05T05:59:59Z", "2026-03-05T14:00:00Z", "2026-03-05T20:00:00Z",
                "2026-03-06T04:59:59Z", "2026-03-06T05:00:00Z", "2026-03-05T04:59:59Z",
            ].map(at))
        let grid = try await grids.grid(
            for: .today, scale: .hours, containing: now(), now: now(), from: repository)
        #expect(grid.title == "Thursday, March 5")
        #expect(grid.dots.map(\.count) == [2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(grid.dots.allSatisfy { $0.isFilled == ($0.count >= 1) })
        #expect(grid.dots.map(\.isPast) == (0..<24).map { $0 < 15 })
        #expect(grid.dots.map(\.isCurrent) == (0..<24).map { $0 == 15 })
        #expect(grid.dots.map(\.isFuture) == (0..<24).map { $0 > 15 })
        #expect(grid.count == 5)
        #expect(grid.summary == "Thursday, March 5: 5 experiences")
        #expect(await repository.questions == 1)
    }

    @Test("Accessible texts name a dot and count its experiences")
    func accessible() async throws {
        let repository = CountingRepository(
            try ["2026-03-05T05:00:00Z", "2026-03-05T06:00:00Z", "2026-03-05T06:30:00Z"].map(at))
        let grid = try await grids.grid(at: .dayByHours, containing: now(), now: now(), from: repository)
        #expect(
            grid.dots.prefix(3).map(\.accessibleText) == [
                "12am: 1 experience", "1am: 2 experiences", "2am: no experiences",
            ])
    }

    @Test("If a grid has a label twice, the text tells them apart")
    func ambiguous() throws {
        let shifted = grids.grid(
            at: .dayByHours, containing: try at("2026-11-01T12:00:00Z"), now: try now(), counts: [:])
        #expect(shifted.dots.count == 25)
        #expect(
            shifted.dots.prefix(4).map(\.accessibleText) == [
                "12am: no experiences", "Sun 1am (UTC-4): no experiences", "Sun 1am (UTC-5): no experiences",
                "2am: no experiences",
            ])
        let month = grids.grid(at: .monthByDays, containing: try now(), now: try now(), counts: [:])
        #expect(month.dots.first?.accessibleText == "Sun, Mar 1: no experiences")
    }

    @Test(
        "A day or week of another year shows that year, unless part of it is in this one",
        arguments: [
            (ZoomLevel.dayByHours, "2024-01-05T12:00:00Z", "Friday, January 5, 2024"),
            (.dayByHours, "2026-01-05T12:00:00Z", "Monday, January 5"),
            (.weekByDays, "2024-03-06T12:00:00Z", "Mar 4 - Mar 10, 2024"),
            (.weekByDays, "2025-01-01T12:00:00Z", "Dec 30, 2024 - Jan 5, 2025"),
            (.weekByDays, "2025-12-30T12:00:00Z", "Dec 29 - Jan 4"),
            (.weekByDays, "2027-01-01T12:00:00Z", "Dec 28 - Jan 3"),
            (.monthByDays, "2024-03-06T12:00:00Z", "March 2024"), (.yearByMonths, "2024-03-06T12:00:00Z", "2024"),
        ])
    func titles(_ level: ZoomLevel, _ date: String, _ title: String) throws {
        #expect(try grids.grid(at: level, containing: at(date), now: now(), counts: [:]).title == title)
    }

    @Test("Buckets, columns and titles of each level")
    func levels() throws {
        let expected: [(ZoomLevel, dots: Int, rows: Int, title: String)] = [
            (.dayByHours, 24, 4, "Thursday, March 5"), (.weekByDays, 7, 1, "Mar 2 - Mar 8"),
            (.monthByDays, 31, 6, "March 2026"), (.monthByWeeks, 6, 2, "March 2026"), (.yearByMonths, 12, 3, "2026"),
        ]
        let now = try now()
        for (level, dots, rows, title) in expected {
            let grid = grids.grid(at: level, containing: now, now: now, counts: [:])
            #expect(grid.dots.count == dots)
            #expect(grid.rows == rows)
            #expect(grid.title == title)
            #expect(grid.dots.map(\.bucket) == grids.buckets(of: level, containing: now))
            #expect(grid.dots.filter(\.isCurrent).count == 1)
            #expect(grid.dot(containing: now)?.isCurrent == true)
            #expect(grid.lines.allSatisfy { $0.count == grid.columns })
            #expect(grid.lines.joined().compactMap { $0 } == grid.dots)
            #expect(grid.rowLabels.count == rows)
        }
    }

    @Test("A month is below its weekdays, with its weeks before the rows")
    func weekdays() throws {
        let grid = grids.grid(at: .monthByDays, containing: try now(), now: try now(), counts: [:])
        #expect(grid.columnLabels == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
        #expect(grid.rowLabels == ["Week 09", "Week 10", "Week 11", "Week 12", "Week 13", "Week 14"])
        #expect(grid.dots.allSatisfy { grid.columnLabels[$0.column] == $0.label })
    }

    @Test("A day skipped by a zone leaves its place empty")
    func skippedDay() throws {
        let samoa = GridAggregationService(timeZone: try #require(TimeZone(identifier: "Pacific/Apia")))
        let week = samoa.grid(at: .weekByDays, containing: try at("2011-12-28T00:00:00Z"), now: try now(), counts: [:])
        #expect(week.lines == [week.dots[0...3].map(Optional.some) + [nil] + week.dots[4...5].map(Optional.some)])
        #expect(week.dots.map(\.label) == ["Mon", "Tue", "Wed", "Thu", "Sat", "Sun"])
    }

    @Test("Any month but the current one is shown as past")
    func anotherMonth() throws {
        let grid = grids.grid(at: .monthByDays, containing: try at("2025-02-10T00:00:00Z"), now: try now(), counts: [:])
        #expect(grid.title == "February 2025")
        #expect(grid.dots.count == 28)
        #expect(grid.dots.allSatisfy { $0.isPast })
    }

    @Test("Weeks are counted whole, even if they begin in the month before")
    func wholeWeeks() async throws {
        let repository = CountingRepository([try at("2026-02-23T12:00:00Z")])
        let grid = try await grids.grid(for: .week, scale: .weeks, containing: now(), now: now(), from: repository)
        #expect(grid.dots.map(\.label) == ["Week 09", "Week 10", "Week 11", "Week 12", "Week 13", "Week 14"])
        #expect(grid.dots.map(\.count) == [1, 0, 0, 0, 0, 0])
    }
}
