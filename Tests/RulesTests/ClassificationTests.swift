import Ledger
import Platform
import Rules
import TestSupport
import Testing

/// The verdict on a rule whose conditions hold, by what happened to the file and what the ledger knows of it. Reads no
/// file: everything a verdict depends on is a value.
@Suite("Decisions about a rule whose conditions hold") struct ClassificationTests {
    /// What the ledger knows of the file.
    enum Past {
        /// Nothing.
        case unknown
        /// The rule was in force, and did not match.
        case unmatched
        /// The rule was in force, matched, and had a job for it.
        case had
        /// It matched; the job no longer exists, or never did.
        case wanted
        /// It was judged before the rule existed.
        case older
        /// The agent put it there.
        case own
        /// The rule was due to run when it arrived, and has not.
        case owed
    }

    struct Case: CustomTestStringConvertible {
        let on: String
        let past: Past
        let news: News
        /// The event the rule is asked about.
        let event: FileEvent
        let expected: Decision.Verdict?
        var existing = "skip"
        var baseline = ChangeClassifier.Baseline.normal
        var isLate = false
        /// nil if the rule looks at no attribute.
        var attribute: (before: String, now: String)?
        var isTouched = true

        var testDescription: String { "on \(on), \(past), \(news), as \(event.rawValue), \(baseline), \(existing)" }
    }

    private static let owed = Planner.Overdue(
        event: .arrived,
        job: JobRecord(
            id: "j", rule: "R", digest: "", event: "arrived", place: "inbox", path: "a", file: "", hash: nil,
            firstJob: "j", depth: 0, arrived: Timestamp(nanoseconds: 0), values: "{}", refused: ""))
    private static let hour = Timestamp(nanoseconds: 3_600_000_000_000)

    static let cases: [Case] = [
        // The rule is about the event that happens.
        Case(on: "arrived", past: .unknown, news: .happened(.arrived), event: .arrived, expected: .runs(.happened)),
        Case(on: "changed", past: .had, news: .happened(.changed), event: .changed, expected: .runs(.happened)),
        Case(on: "renamed", past: .had, news: .happened(.renamed), event: .renamed, expected: .runs(.happened)),
        Case(on: "removed", past: .had, news: .happened(.removed), event: .removed, expected: .runs(.happened)),
        Case(
            on: "[arrived, changed]", past: .unmatched, news: .happened(.changed), event: .changed,
            expected: .runs(.happened)),
        // It is one event, not two.
        Case(on: "[arrived, changed]", past: .unmatched, news: .happened(.changed), event: .arrived, expected: nil),
        // It arrives for a rule when it first meets the rule's conditions, once.
        Case(
            on: "arrived", past: .unmatched, news: .happened(.changed), event: .arrived, expected: .runs(.firstMatch)),
        Case(
            on: "arrived", past: .unmatched, news: .happened(.renamed), event: .arrived, expected: .runs(.firstMatch)),
        Case(on: "arrived", past: .had, news: .happened(.changed), event: .arrived, expected: nil),
        // A newer rule found it already there; the same if the agent put it there.
        Case(on: "arrived", past: .older, news: .happened(.changed), event: .arrived, expected: nil),
        Case(on: "arrived", past: .own, news: .happened(.changed), event: .arrived, expected: nil),
        // An owed event runs as that event, once, and instead of the one that happened.
        Case(
            on: "arrived", past: .owed, news: .happened(.changed), event: .arrived,
            expected: .runs(.owed(owed))),
        Case(
            on: "[arrived, changed]", past: .owed, news: .happened(.changed), event: .changed, expected: nil),
        Case(
            on: "arrived", past: .owed, news: .owed(owed), event: .arrived, expected: .runs(.owed(owed))),
        // Time.
        Case(
            on: "arrived", past: .older, news: .happened(.changed), event: .arrived, expected: .runs(.time),
            isLate: true),
        Case(
            on: "[arrived, changed]", past: .older, news: .happened(.changed), event: .changed,
            expected: .runs(.happened), isLate: true),
        Case(
            on: "arrived", past: .unmatched, news: .due(scheduled: [:]), event: .arrived, expected: .runs(.time),
            isLate: true),
        Case(on: "arrived", past: .unmatched, news: .due(scheduled: [:]), event: .arrived, expected: nil),
        Case(
            on: "arrived", past: .had, news: .due(scheduled: ["R": hour]), event: .scheduled,
            expected: .runs(.scheduled(hour))),
        // Its schedule does not make it an arrival.
        Case(on: "arrived", past: .unmatched, news: .due(scheduled: ["R": hour]), event: .arrived, expected: nil),
        Case(on: "arrived", past: .had, news: .due(scheduled: ["S": hour]), event: .scheduled, expected: nil),
        // Files that existed before.
        Case(
            on: "arrived", past: .unknown, news: .happened(.arrived), event: .arrived, expected: .passes(.placeIsNew),
            baseline: .first),
        Case(
            on: "arrived", past: .unknown, news: .happened(.arrived), event: .arrived, expected: .runs(.happened),
            existing: "process", baseline: .first),
        Case(
            on: "arrived", past: .unknown, news: .happened(.arrived), event: .arrived, expected: .passes(.ledgerLost),
            existing: "process", baseline: .silent),
        // Attributes: only those a rule looks at are news to it.
        Case(
            on: "changed", past: .had, news: .touched, event: .changed, expected: .runs(.happened),
            attribute: ("a", "b")),
        Case(on: "changed", past: .had, news: .touched, event: .changed, expected: nil, attribute: ("a", "a")),
        Case(on: "changed", past: .had, news: .touched, event: .changed, expected: nil),
        Case(on: "arrived", past: .unmatched, news: .touched, event: .arrived, expected: nil),
        Case(
            on: "arrived", past: .unmatched, news: .touched, event: .arrived, expected: .runs(.firstMatch),
            attribute: ("a", "b")),
        Case(on: "arrived", past: .had, news: .touched, event: .arrived, expected: nil, attribute: ("a", "b")),
        Case(
            on: "arrived", past: .unmatched, news: .touched, event: .arrived, expected: nil, attribute: ("a", "a"),
            isTouched: false),
        Case(
            on: "changed", past: .had, news: .touched, event: .changed, expected: nil, baseline: .silent,
            attribute: ("a", "b")),
        // Requested by a person.
        Case(
            on: "arrived", past: .had, news: .asked(rules: nil, again: true, as: .arrived), event: .arrived,
            expected: .runs(.asked)),
        Case(
            on: "arrived", past: .had, news: .asked(rules: ["S"], again: true, as: .arrived), event: .arrived,
            expected: nil),
        Case(
            on: "arrived", past: .had, news: .asked(rules: ["R"], again: true, as: .arrived), event: .scheduled,
            expected: nil),
        // Nothing has happened: the reason, for people.
        Case(on: "arrived", past: .had, news: .nothing, event: .arrived, expected: .passes(.hadByRule)),
        Case(on: "arrived", past: .own, news: .nothing, event: .arrived, expected: .passes(.ownWrite)),
        Case(on: "arrived", past: .unmatched, news: .nothing, event: .arrived, expected: .passes(.unchanged)),
        Case(on: "arrived", past: .older, news: .nothing, event: .arrived, expected: .passes(.olderThanRule)),
        Case(on: "arrived", past: .wanted, news: .nothing, event: .arrived, expected: .passes(.olderThanRule)),
        Case(
            on: "arrived", past: .wanted, news: .nothing, event: .arrived, expected: .passes(.judgedBefore),
            existing: "process"),
        Case(on: "arrived", past: .older, news: .nothing, event: .arrived, expected: .runs(.time), isLate: true),
        // It has not been read.
        Case(on: "arrived", past: .unknown, news: .unread, event: .arrived, expected: nil),
    ]

    @Test("By event, by what is known, and by the subject of the rule", arguments: cases)
    func verdict(_ row: Case) throws {
        let folder = try TemporaryFolder()
        let bench = try Bench(folder.path, rules: "[]")
        let look = row.attribute == nil ? "" : "where: { xattr: { user.xdg.tags: present } }, "
        let rules = try bench.rules(
            "- { rule: R, in: inbox, on: \(row.on), existing: \(row.existing), \(look)do: { probe: {} } }")
        let rule = try #require(rules.first)
        let place = try #require(Bench.places(folder.path).first)
        let name = rule.condition.attributes.first?.name
        var circumstances = Circumstances(past(row, name), row.news, row.baseline, in: place)
        circumstances.late = row.isLate ? ["R"] : []
        if let name, let attribute = row.attribute { circumstances.digests = [name: attribute.now] }
        circumstances.isTouched = row.isTouched
        #expect(circumstances.verdict(on: rule, as: row.event) == row.expected)
    }

    private func past(_ row: Case, _ attribute: String?) -> FileHistory {
        func record(_ matched: MatchedRules?) -> FileRecord {
            FileRecord(
                place: "inbox", path: "a",
                fingerprint: Fingerprint(device: 0, inode: 1, size: 0, modified: 0, changed: 0), hash: nil,
                matched: matched,
                attributes: attribute.map { SeenAttributes(digests: [$0: row.attribute?.before ?? ""]) })
        }
        switch row.past {
        case .unknown: return .none
        case .unmatched: return FileHistory(record(MatchedRules(ruleSet: "1", rules: [])), inForce: ["R"])
        case .had: return FileHistory(record(MatchedRules(ruleSet: "1", rules: ["R"])), inForce: ["R"], hadJobs: ["R"])
        case .wanted: return FileHistory(record(MatchedRules(ruleSet: "1", rules: ["R"])), inForce: ["R"])
        case .older: return FileHistory(record(MatchedRules(ruleSet: "1", rules: [])), inForce: [])
        case .own: return FileHistory(record(MatchedRules(ruleSet: "", rules: [])), inForce: [])
        case .owed: return FileHistory(record(MatchedRules(ruleSet: "1", rules: [])), inForce: [], owed: [Self.owed])
        }
    }
}
