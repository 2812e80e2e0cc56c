import DotLifeDomain
import Testing

@Suite("Zooming")
struct ZoomLadderTests {
    private let today = ZoomLadder(for: .today)
    private let week = ZoomLadder(for: .week)

    @Test("Today leads from a day through week and month to a year, the week from a week on")
    func ladders() {
        #expect(today.levels == [.dayByHours, .weekByDays, .monthByDays, .yearByMonths])
        #expect(week.levels == [.weekByDays, .monthByDays, .yearByMonths])
        #expect(today.first == .dayByHours)
        #expect(week.first == .weekByDays)
    }

    @Test("Each step leads to the neighbour, and the ends stay", arguments: VisualizeViewType.allCases)
    func steps(_ view: VisualizeViewType) throws {
        let ladder = ZoomLadder(for: view)
        for (closer, wider) in zip(ladder.levels, ladder.levels.dropFirst()) {
            #expect(ladder.zoomedOut(from: closer) == wider)
            #expect(ladder.zoomedIn(from: wider) == closer)
        }
        #expect(ladder.zoomedIn(from: ladder.first) == ladder.first)
        #expect(ladder.zoomedOut(from: .yearByMonths) == .yearByMonths)
    }

    @Test("The month by weeks takes the position of the month by days")
    func monthByWeeks() {
        #expect(today.zoomedIn(from: .monthByWeeks) == .weekByDays)
        #expect(week.zoomedOut(from: .monthByWeeks) == .yearByMonths)
    }

    @Test("A level of the other view leads to the first")
    func foreignLevel() { #expect(week.zoomedOut(from: .dayByHours) == .weekByDays) }

    @Test("Toggling switches between the first two, and leads back from everywhere")
    func toggle() {
        #expect(today.toggled(from: .dayByHours) == .weekByDays)
        #expect(today.toggled(from: .weekByDays) == .dayByHours)
        #expect(today.toggled(from: .yearByMonths) == .dayByHours)
        #expect(week.toggled(from: .weekByDays) == .monthByDays)
        #expect(week.toggled(from: .monthByDays) == .weekByDays)
    }

    @Test("Each scale is a grid of each view, with dots of a given size", arguments: VisualizeViewType.allCases)
    func scales(_ view: VisualizeViewType) {
        for scale in GridScale.allCases where view == .today || scale != .hours {
            #expect(ZoomLadder(for: view).level(for: scale).scale == scale)
        }
        #expect(week.level(for: .hours) == .weekByDays)
        #expect(today.level(for: .weeks) == .monthByWeeks)
    }
}
