import DotLifeDomain
import Foundation
import Platform
import TestSupport
import Testing

/// Buckets and grids compared with Python's calendar and zones (`Tests/Peers/dot_oracle.py`), which share nothing with
/// ours. 10,000 instants with `STEWARD_TEST_WHOLE=1`.
@Suite(
    "Buckets and grids compared with a second implementation",
    .enabled("python3 with zoneinfo and the zones of tzdata is wanted") { DotOracle.isThere })
struct BucketOracleTests {
    @Test("Both produce the same buckets and the same grids")
    func equal() async throws {
        var random = SeededGenerator(for: "BucketOracleTests.equal")
        let zones = try DotZones.all()
        let questions = try (0..<(Thoroughness.isWhole ? 10_000 : 200)).map { number in
            let zone = try #require(zones.randomElement(using: &random))
            let date = DotZones.instant(in: zone, using: &random)
            return DotOracle.Question(
                zone: zone.identifier, instant: Int(date.timeIntervalSince1970), grids: number % 10 == 0)
        }
        let answers = try DotOracle.ask(questions)
        #expect(answers.count == questions.count)
        for (question, answer) in zip(questions, answers) {
            let own = try DotOracle.ownAnswer(question)
            #expect(own.buckets == answer.buckets, "\(question)")
            #expect(own.year == answer.year, "\(question)")
            for (level, dots) in answer.grids ?? [:] {
                #expect(own.grids?[level] == dots, "\(question) \(level)")
            }
        }
        print(
            "\(zones.count) zones, \(questions.count) instants, \(questions.filter(\.grids).count) of them with grids")
    }
}

private enum DotOracle {
    struct Question: Codable {
        let zone: String
        let instant: Int
        let grids: Bool
    }

    struct Answer: Decodable {
        let buckets: [[Int]]
        let grids: [String: [[Cell]]]?
        let year: [String]?
    }

    /// A number or a text.
    enum Cell: Decodable, Equatable {
        case number(Int)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do {
                self = .number(try container.decode(Int.self))
            } catch {
                self = .text(try container.decode(String.self))
            }
        }
    }

    static let isThere: Bool = {
        let script = "import zoneinfo, sys; [zoneinfo.ZoneInfo(name) for name in sys.argv[1:]]"
        let run = try? runProgram(["python3", "-c", script] + DotZones.names)
        return run?.status == 0
    }()

    static func ask(_ questions: [Question]) throws -> [Answer] {
        let input = try questions.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + "\n" }.joined()
        let script = Checkout.root.appending("Tests/Peers/dot_oracle.py").text
        let run = try runProgram(["python3", script], input: input).check()
        return try run.output.split(separator: "\n").map { try JSONDecoder().decode(Answer.self, from: Data($0.utf8)) }
    }

    static func ownAnswer(_ question: Question) throws -> Answer {
        let zone = try #require(TimeZone(identifier: question.zone))
        let service = GridAggregationService(timeZone: zone)
        let date = Date(timeIntervalSince1970: Double(question.instant))
        let buckets = TimeBucketType.allCases.map { type in
            let bucket = service.bucketing.bucket(type, containing: date)
            return [seconds(bucket.start), seconds(bucket.end)]
        }
        guard question.grids else { return Answer(buckets: buckets, grids: nil, year: nil) }
        let grids = ZoomLevel.allCases.map { level in
            let grid = service.grid(at: level, containing: date, now: date, counts: [:])
            let cells = grid.dots.map { dot -> [Cell] in
                [
                    .number(seconds(dot.bucket.start)), .number(seconds(dot.bucket.end)), .number(dot.row),
                    .number(dot.column), .text(dot.label),
                ]
            }
            return (level.rawValue, cells)
        }
        return Answer(
            buckets: buckets, grids: Dictionary(uniqueKeysWithValues: grids),
            year: service.yearGrid(containing: date, now: date, counts: [:]).days.map(\.id))
    }

    private static func seconds(_ date: Date) -> Int { Int(date.timeIntervalSince1970) }
}
