import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Days and times of day") struct ClockConditionTests {
    private func facts(now: Double) -> FileFacts {
        FileFacts(
            place: places()[4], path: "a.txt", status: nil, event: .arrived, now: Timestamp(seconds: now),
            content: .none)
    }

    private func holds(_ condition: String, _ now: Double) throws -> Bool {
        try !RuleSet([try rule(where: condition)]).match(facts(now: now)).isEmpty
    }

    /// Monday, the 23rd of November 2026, 00:00 UTC.
    private static let monday = 1_795_392_000.0
    private static let hour = 3_600.0

    @Test(
        "A condition holds at a given time",
        arguments: [
            ("weekday: monday", 0.0, true), ("weekday: [sat, Sunday]", 0, false), ("weekday: [sat, Sunday]", -1, true),
            ("weekday: tue", 24, true), ("time: \"22:00-06:00\"", 0, true), ("time: \"22:00-06:00\"", 5.9, true),
            ("time: \"22:00-06:00\"", 6, false), ("time: \"22:00-06:00\"", 21.9, false),
            ("time: \"22:00-06:00\"", 22, true), ("time: \"08:00-12:00\"", 8, true),
            ("time: [\"08:00-09:00\", \"17:00-24:00\"]", 23.9, true),
            ("time: [\"08:00-09:00\", \"17:00-24:00\"]", 10, false),
            ("time: [\"> 22:00\", \"< 06:00\"]", 3, true), ("time: [\"> 22:00\", \"< 06:00\"]", 12, false),
            ("time: [\">= 08:00\", \"< 17:00\"]", 8, true), ("time: [\">= 08:00\", \"< 17:00\"]", 17, false),
            ("time: \"> 12:00\"", 13, true), ("time: \"> 12:00\"", 11, false), ("time: \"< 12:00\"", 11, true),
        ])
    func holdsAt(_ condition: String, _ hours: Double, _ expected: Bool) throws {
        #expect(try holds(condition, Self.monday + hours * Self.hour) == expected)
    }

    @Test("The time of the last change can be used instead") func modified() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("a.txt", "x")
        let time = timespec(tv_sec: Int(Self.monday) + 3_600, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, path.text, [time, time], 0) == 0)
        let place = PlaceInfo(name: "other", kind: .folder, root: folder.path)
        let facts = FileFacts(
            place: place, path: "a.txt", status: try FileStatus.of(path), event: .arrived, now: .now(), content: .none)
        func holds(_ condition: String) throws -> Bool {
            try !RuleSet([try rule(where: condition, places: [place])]).match(facts).isEmpty
        }
        #expect(try holds("weekday: { of: modified, is: monday }"))
        #expect(try holds("time: { of: modified, is: \"00:30-01:30\" }"))
        #expect(try !holds("time: { of: modified, is: \"01:30-02:30\" }"))
    }

    @Test("An invalid day or time is reported at its position") func complaint() {
        #expect(
            complaints("rule: R\nin: other\nwhere:\n  weekday: [mon, sundae]\n  time: \"22-6\"\ndo: trash\n") == [
                "4:18 `sundae` is no day of the week; did you mean `sunday`?",
                "5:9 `time` must be like `22:00-06:00`, or a comparison such as `> 22:00`, not `22-6`; two comparisons "
                    + "make a range: one that says from when, one that says until when",
            ])
        #expect(!complaints("rule: R\nin: other\nwhere: { time: [\"> 22:00\", \"> 23:00\"] }\ndo: trash\n").isEmpty)
        #expect(!complaints("rule: R\nin: other\nwhere: { time: \"25:00-26:00\" }\ndo: trash\n").isEmpty)
    }

    @Test(
        "The next change is the first moment with a different result, even when the clock is set",
        arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Santiago"])
    func nextChange(_ zone: String) throws {
        let timeZone = try #require(Zone(identifier: zone))
        var random = SeededGenerator(for: "nextChange \(zone)")
        for round in 0..<16 {
            let window: ClockWindow
            if round.isMultiple(of: 2) {
                window = ClockWindow(
                    weekdays: Set((0..<3).map { _ in Int.random(in: 0..<7, using: &random) }), in: timeZone)
            } else {
                let start = Int.random(in: 0..<96, using: &random) * 900
                let length = Int.random(in: 1..<95, using: &random) * 900
                window = ClockWindow(hours: [.init(start: start, end: (start + length) % 86_400)], in: timeZone)
            }
            // Half of the moments are near a clock change.
            var base = Self.monday + Double(Int.random(in: 0..<31_536_000, using: &random))
            if round % 4 < 2, let set = timeZone.nextChange(after: Int(base)) {
                base = Double(set) - Double(Int.random(in: 0..<100_000, using: &random))
            }
            let start = Timestamp(seconds: base.rounded(.down))
            let before = window.holds(start)
            // All transitions of these windows and zones fall on a full minute.
            var moment = Int(base) / 60 * 60 + 60
            let end = moment + 9 * 86_400
            while moment < end, window.holds(Timestamp(seconds: Double(moment))) == before { moment += 60 }
            let expected = moment < end ? Timestamp(seconds: Double(moment)) : nil
            #expect(window.nextChange(after: start) == expected, "\(window) after \(start)")
        }
    }
}
