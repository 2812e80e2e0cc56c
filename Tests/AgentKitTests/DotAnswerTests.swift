import DotLifeDomain
import Foundation
import Platform
import TestSupport
import Testing

@testable import AgentKit

/// Dot commands and their answers as sent over the control socket.
@Suite("Answers about dots")
struct DotAnswerTests {
    private static let displays = [
        DotDisplay(timeZone: .gmt), DotDisplay(timeZone: .gmt, width: 60, hasColour: true),
    ]

    private static func written(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(value)
    }

    private static func read<T: Decodable>(_ type: T.Type, _ data: Data) throws -> T {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: data)
    }

    @Test("A command sent to the agent does the same, and its answer is displayed as if made locally")
    func commands() async throws {
        let home = try TemporaryFolder()
        try home.write("song.txt", "la la")
        let now = Date(timeIntervalSince1970: 1_772_721_000)
        let dots = try await DotContext.open(
            try Directories(environment: ["HOME": home.path.text]), nil, now: now
        ) { Issue.record("\($0)") }
        let note = AddCapture(.note(text: "Two herons\n\u{1B}[31m"), moment: "today", time: nil, attached: [])
        let id = try await note.run(in: dots).id
        let commands: [any DotCommand] = [
            AddCapture(.link(address: "example.org"), moment: nil, time: "2026-03-01", attached: []),
            AddCapture(.dot, moment: nil, time: nil, attached: [home.path.appending("song.txt")]),
            ShowGrid(.today, scale: "days", zoom: [.out]), ShowGrid(.year, date: "2026"), ShowCaptures("2026"),
            ShowCaptures("today", limit: 1), ShowCaptures("2025"), ShowCapture(id), SearchCaptures("hero", limit: 5),
            SearchCaptures("crane", limit: 5), CheckCaptures(repairs: true), DeleteCaptures([id]),
        ]
        for command in commands { try await Self.check(command, in: dots) }
        try await dots.close()
    }

    private static func check<C: DotCommand>(_ command: C, in dots: DotContext) async throws {
        let sent = try written(command)
        let received = try read(C.self, sent)
        #expect(try written(received) == sent)
        let answer = try await received.run(in: dots)
        let back = try read(C.Answer.self, written(answer))
        #expect(try written(back) == written(answer), "\(C.name)")
        for display in displays {
            let lines = received.lines(back, on: display)
            #expect(lines == command.lines(answer, on: display), "\(C.name)")
            #expect(!lines.contains { $0.contains("\u{1B}[31m") || $0.contains("\n") }, "\(C.name)")
        }
    }

    @Test(
        "A grid survives being sent",
        arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "GMT"])
    func grids(_ zone: String) throws {
        let service = GridAggregationService(timeZone: try #require(TimeZone(identifier: zone)))
        // Days on which clocks are put forward or back, and one that a zone skipped.
        for name in ["2026-03-29", "2026-10-25", "2026-11-01", "2026-04-05", "2026-12-31", "2011-12-31"] {
            let day = try #require(service.bucketing.bucket(named: name)).start
            let now = day.addingTimeInterval(40_000)
            let counts = [day: 3, now: 1]
            for level in ZoomLevel.allCases {
                let grid = service.grid(at: level, containing: day, now: now, counts: counts)
                guard case .level(let back) = try Self.read(DotGridReport.self, Self.written(DotGridReport.level(grid)))
                else { throw TestFailure("\(name), \(level): another grid") }
                #expect(back == grid, "\(name), \(level)")
            }
            let year = service.yearGrid(containing: day, now: now, counts: counts)
            guard case .year(let back) = try Self.read(DotGridReport.self, Self.written(DotGridReport.year(year)))
            else {
                throw TestFailure("\(name): another year")
            }
            #expect(back == year, "\(name)")
            let other = String(decoding: try Self.written(DotGridReport.year(year)), as: UTF8.self)
                .replacing("\"bucket\":\"\(year.period.name)\"", with: "\"bucket\":\"1999\"")
            #expect(throws: DecodingError.self) { try Self.read(DotGridReport.self, Data(other.utf8)) }
        }
    }
}
