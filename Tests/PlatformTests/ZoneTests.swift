import Foundation
import OwnFiles
import Synchronization
import TestSupport
import Testing

@testable import Platform

/// Dates and zones compared with Python's (`Tests/Peers/zone_oracle.py`), which reads the same files and shares nothing
/// else.
@Suite(
    "Dates and time zones compared with a second implementation",
    .enabled("python3 with zoneinfo and the zones of tzdata is wanted") { ZoneOracle.zones.count >= 100 })
struct ZoneOracleTests {
    /// 1 January 1900 to 1 January 2101.
    private static let span = -2_208_988_800..<4_133_980_800

    @Test("The clocks of a hundred zones match Python's, and local times resolve alike")
    func zones() throws {
        var random = SeededGenerator(for: "ZoneOracleTests.zones")
        var questions: [ZoneOracle.Question] = []
        for name in ZoneOracle.zones.shuffled(using: &random).prefix(100) {
            let zone = try #require(Zone(identifier: name), "\(name)")
            for _ in 0..<(Thoroughness.isWhole ? 1_000 : 40) {
                var instant = Int.random(in: Self.span, using: &random)
                // Half of them are near a change, where bugs hide.
                if Bool.random(using: &random), let change = zone.nextChange(after: instant) {
                    instant = min(change, Self.span.upperBound) + Int.random(in: -10_800...10_800, using: &random)
                }
                questions.append(ZoneOracle.Question(zone: name, instant: instant))
                let civil = CivilDateTime(secondsSince1970: instant + zone.offset(at: instant - 7_200))
                questions.append(ZoneOracle.Question(zone: name, civil: civil.description))
            }
        }
        for (question, answer) in zip(questions, try ZoneOracle.ask(questions)) {
            let zone = try #require(question.zone.flatMap(Zone.init(identifier:)))
            if let instant = question.instant {
                let local = zone.local(at: instant)
                #expect(answer == [.text(local.civil.description), .number(local.offset)], "\(question)")
                #expect(zone.all(local.civil).contains(local) && local.secondsSince1970 == instant, "\(question)")
            } else {
                let civil = try #require(question.civil.flatMap { CivilDateTime($0) })
                let (all, resolved) = (zone.all(civil), zone.resolve(civil))
                #expect(answer == [.number(all.count), .number(resolved.offset)], "\(question)")
                #expect(all.isEmpty || all.first == resolved, "\(question)")
                let first = zone.first(notBefore: civil)
                #expect(
                    zone.local(at: first).civil >= civil && zone.local(at: first - 1).civil < civil || all.count == 2)
            }
        }
    }

    @Test("Days, their weeks, and offsets in months and days match Python's")
    func days() throws {
        var random = SeededGenerator(for: "ZoneOracleTests.days")
        let questions = (0..<2_000).map { _ in
            ZoneOracle.Question(
                day: Int.random(in: -25_567...47_846, using: &random),
                months: Int.random(in: -500...500, using: &random),
                days: Int.random(in: -20_000...20_000, using: &random))
        }
        for (question, answer) in zip(questions, try ZoneOracle.ask(questions)) {
            let day = CivilDate(daysSince1970: try #require(question.day))
            let (months, days) = (try #require(question.months), try #require(question.days))
            #expect(
                answer == [
                    .text(day.description), .number(day.weekday), .number(day.dayOfYear), .number(day.week.year),
                    .number(day.week.number), .text(day.adding(months: months).description),
                    .text(day.adding(days: days).description),
                ], "\(question)")
            #expect(CivilDateTime("\(day)") == CivilDateTime(day) && day.daysSince1970 == question.day)
        }
    }
}

private enum ZoneOracle {
    struct Question: Encodable {
        var zone: String?
        var instant: Int?
        var civil: String?
        var day: Int?
        var months: Int?
        var days: Int?
    }

    /// A number or a text.
    enum Cell: Decodable, Equatable {
        case number(Int)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self = try (try? .number(container.decode(Int.self))) ?? .text(container.decode(String.self))
        }
    }

    private static let script = Checkout.root.appending("Tests/Peers/zone_oracle.py").text

    /// Empty without an oracle.
    static let zones: [String] = {
        let run = try? runProgram(["python3", script, "zones"])
        return run?.status == 0 ? run?.output.split(separator: "\n").map(String.init) ?? [] : []
    }()

    static func ask(_ questions: [Question]) throws -> [[Cell]] {
        let input = try questions.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + "\n" }.joined()
        let lines = try runProgram(["python3", script], input: input).check().output.split(separator: "\n")
        try #require(lines.count == questions.count)
        return try lines.map { try JSONDecoder().decode([Cell].self, from: Data($0.utf8)) }
    }
}

@Suite("Time zones")
struct ZoneTests {
    @Test(
        "An invalid name, or one that would leave the folder, is not a zone",
        arguments: [
            "", "/", "Mars/Olympus", "../zoneinfo/Europe/Berlin", "Europe/../Europe/Berlin", "./UTC", "Europe//Berlin",
            "/etc/localtime", "/usr/share/zoneinfo/Europe/Berlin", "Europe", "zone.tab", "tzdata.zi", "Europe/Berlin ",
            "GMT+19", "GMT+0160", "GMT+", "UTC+2", "CET-1",
        ])
    func noZone(_ name: String) { #expect(Zone(identifier: name) == nil) }

    @Test(
        "An offset or a rule is a zone as well",
        arguments: [
            ("GMT", 0, 0), ("UTC", 0, 0), ("GMT+1", 3_600, 3_600), ("GMT-0330", -12_600, -12_600),
            ("GMT+05:45", 20_700, 20_700), ("GMT-010015", -3_615, -3_615),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 3_600, 7_200), ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7_200, -3_600),
            ("XXX3EDT4,0/0,J365/23", -14_400, -14_400),
        ])
    func rules(_ name: String, _ winter: Int, _ summer: Int) throws {
        let zone = try #require(Zone(identifier: name))
        for (month, offset) in [(1, winter), (7, summer)] {
            for year in [1950, 2026, 2500, 9_999] {
                let date = try #require(CivilDate(year: year, month: month, day: 15))
                #expect(zone.offset(at: CivilDateTime(date).secondsSince1970) == offset, "\(name) \(date)")
            }
        }
        #expect(Zone(secondsFromGMT: winter).offset(at: 0) == winter)
        #expect(Zone(identifier: Zone(secondsFromGMT: winter).identifier) == Zone(secondsFromGMT: winter))
    }

    @Test(
        "TZ is interpreted as the C library does",
        arguments: [
            ("Europe/Berlin", "Europe/Berlin", 3_600, 7_200), (":Europe/Berlin", "Europe/Berlin", 3_600, 7_200),
            ("right/Europe/Berlin", "Europe/Berlin", 3_600, 7_200), ("UTC", "GMT", 0, 0),
            ("CET-1", "GMT+0100", 3_600, 3_600), ("GMT+1", "GMT-0100", -3_600, -3_600),
            ("GMT-5:45", "GMT+0545", 20_700, 20_700), ("<-03>3", "GMT-0300", -10_800, -10_800),
            ("CET-1CEST", "CET-1CEST,M3.2.0,M11.1.0", 3_600, 7_200),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "CET-1CEST,M3.5.0,M10.5.0/3", 3_600, 7_200),
        ])
    func variable(_ text: String, _ name: String, _ winter: Int, _ summer: Int) throws {
        let zone = try #require(Zone.ofVariable(text))
        #expect(zone.identifier == name && Zone(identifier: name) == zone && Zone.unreadableName(text) == nil)
        #expect(zone.offset(at: 1_768_435_200) == winter && zone.offset(at: 1_784_073_600) == summer)
    }

    @Test(
        "A TZ that names no zone means no zone", arguments: ["", "Mars/Olympus", "right/Mars", "CET-1CEST,M3.5.0", "/"])
    func noVariable(_ text: String) {
        #expect(Zone.ofVariable(text) == nil)
        #expect(Zone.unreadableName(text) == (text.isEmpty ? nil : "TZ=\(text)"))
    }

    @Test("The system's zone is named by a link, with leap seconds too; if it is a copy, the file itself is read")
    func machine() throws {
        let folder = try TemporaryFolder("zone")
        let path = folder.path.appending("localtime").text
        #expect(Zone.ofMachine(path) == nil && Zone.unreadableName(nil, path) == nil)
        try folder.write("localtime", Array("TZif".utf8))
        #expect(Zone.ofMachine(path) == nil && Zone.unreadableName(nil, path) == path)
        try folder.write("localtime", Self.file("XYZ-7"))
        let copy = try #require(Zone.ofMachine(path))
        #expect(copy.identifier == "localtime" && copy.offset(at: 0) == 25_200 && Zone.unreadableName(nil, path) == nil)
        for (number, name) in ["Europe/Berlin", "right/Europe/Berlin"].enumerated() {
            let target = "\(Zone.folder)/\(name)"
            guard FileManager.default.fileExists(atPath: target) else { continue }
            let link = folder.path.appending(BytePath("link\(number)")).text
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            #expect(Zone.ofMachine(link)?.identifier == "Europe/Berlin")
        }
    }

    @Test("A replaced file is read again, and a broken or missing one keeps the previous zone")
    func replaced() throws {
        let folder = try TemporaryFolder("zone")
        let now = Mutex(0)
        let path = folder.path.appending("City")
        try folder.write("City", Self.file("CET-1"))
        let clock: @Sendable () -> Int = { now.withLock { $0 } }
        let file = try #require(ZoneFile(path.text, clock: clock))
        func offset(after seconds: Int) -> Int {
            now.withLock { $0 += seconds }
            return file.rules().offset(at: 0)
        }
        #expect(offset(after: 0) == 3_600)
        try folder.write("City", Self.file("EET-2"))
        #expect(offset(after: 59) == 3_600)
        #expect(offset(after: 1) == 7_200)
        try folder.write("City", Array("TZif".utf8))
        #expect(offset(after: 60) == 7_200)
        try FileManager.default.removeItem(atPath: path.text)
        #expect(offset(after: 60) == 7_200)
        try folder.write("City", Self.file("MSK-3"))
        #expect(offset(after: 60) == 10_800)
    }

    @Test(
        "A file that is truncated or counts leap seconds is invalid", arguments: [0, 4, 43, 44, 50, 107, 108, 109, 114])
    func broken(length: Int) throws {
        let folder = try TemporaryFolder("zone")
        let whole = Self.file("CET-1")
        try folder.write("City", Array(whole.prefix(length)))
        #expect(ZoneFile(folder.path.appending("City").text) == nil)
        try folder.write("Leap", Self.file("CET-1", leaps: 1))
        #expect(ZoneFile(folder.path.appending("Leap").text) == nil)
        try folder.write("Whole", whole)
        #expect(ZoneFile(folder.path.appending("Whole").text) != nil)
    }

    @Test(
        "A file with a transition more than 2^59 seconds from 1970 is invalid",
        arguments: [
            (.min, false), (.min + 1, false), (-(1 << 59) - 1, false), (-(1 << 59), true), (0, true), (1 << 59, true),
            ((1 << 59) + 1, false), (.max - 1, false), (.max, false),
        ] as [(Int, Bool)])
    func far(time: Int, isValid: Bool) throws {
        let folder = try TemporaryFolder("zone")
        try folder.write("City", Self.file("CET-1CEST,M3.5.0,M10.5.0/3", transitions: [time]))
        let file = ZoneFile(folder.path.appending("City").text)
        #expect((file != nil) == isValid)
        guard let rules = file?.rules() else { return }
        #expect(rules.offset(at: time - 1) == 0 && rules.showing(time).offsets.count <= 2)
        #expect(rules.nextChange(after: time) ?? .max > time)
    }

    @Test(
        "Only existing dates and times are read",
        arguments: [
            "2026-02-29", "2026-13-01", "2026-1-01", "2026-01-01T24:00", "2026-01-01T00:60", "2026-01-01T00:00:60",
            "2026-01-01X00:00", "2026-01-01T00:00Z", "２０２６-01-01", "",
        ])
    func noCivil(_ text: String) { #expect(CivilDateTime(text) == nil) }

    /// A TZif file with these transitions, which change nothing, and this rule as footer.
    private static func file(_ rule: String, leaps: UInt8 = 0, transitions: [Int] = []) -> [UInt8] {
        func block(timeSize: Int, _ transitions: [Int]) -> [UInt8] {
            let counts: [UInt8] = [0, 0, leaps, UInt8(transitions.count), 1, 4]
            return Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15) + counts.flatMap { [0, 0, 0, $0] }
                + transitions.flatMap { time in (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - $0 * 8)) } }
                + transitions.map { _ in 0 }
                + [0, 0, 0, 0, 0, 0] + Array("LMT\0".utf8)
                + [UInt8](repeating: 0, count: Int(leaps) * (timeSize + 4))
        }
        return block(timeSize: 4, []) + block(timeSize: 8, transitions) + Array("\n\(rule)\n".utf8)
    }
}
