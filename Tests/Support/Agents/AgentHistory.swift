import Foundation
import OwnFiles
import Platform

/// A line of `steward log --json`.
package struct LoggedLine: Decodable, Sendable {
    package let kind: String
    package let job: String?
    package let place: String?
    package let path: BytePath?
    package let message: String
}

/// The parts of `steward status --json` that tests read.
package struct LoggedStatus: Decodable, Sendable {
    package struct Place: Decodable, Sendable {
        package let name: String
        package let isPresent: Bool
        package let usedBy: String?
        package let mode: String
        package let watches: Int
        package let unreadable: [BytePath]
    }

    package struct Settling: Decodable, Sendable {
        package let place: String
        package let path: BytePath
        package let waitingFor: String
    }

    package struct Job: Decodable, Sendable {
        package let job: String
        package let rule: String
        package let problem: String
    }

    package let places: [Place]
    package let settling: [Settling]
    package let waiting: [Job]
    package let parked: [Job]
    package let quarantined: Int
    package let hanging: [String]
    package let watchLimitHit: Bool
    package let overflows: Int
    package let warnings: [String]
}

extension AgentFixture {
    /// The whole history, oldest first.
    package func loggedLines() throws -> [LoggedLine] {
        if let lines = try ask([LoggedLine].self, "log", [("limit", "1000000"), ("after", "0")]) { return lines }
        let text = try run(["log", "--json", "--lines", "1000000"]).check().output
        return try text.split(separator: "\n").map { try JSONDecoder().decode(LoggedLine.self, from: Data($0.utf8)) }
    }

    /// How the files of a place were judged, if a rule was interested: `arrived essay.md`.
    package func judgements(_ rule: String, in place: String) throws -> [String] {
        try loggedLines().filter { $0.kind == "planned" && $0.place == place && $0.message.contains("\"\(rule)\"") }
            .map { line in
                let event = line.message.split(separator: "(").last?.dropLast() ?? ""
                return "\(event) \(line.path?.text ?? "")"
            }
    }

    package func status() throws -> LoggedStatus {
        if let status = try ask(LoggedStatus.self, "status") { return status }
        let text = try run(["status", "--json"]).check().output
        return try JSONDecoder().decode(LoggedStatus.self, from: Data(text.utf8))
    }

    private struct Reply<Value: Decodable>: Decodable { let answer: Value }

    private func ask<Value: Decodable>(
        _ type: Value.Type, _ request: String, _ arguments: [(name: String, value: String)] = []
    ) throws -> Value? {
        try ask(request, arguments).map { try JSONDecoder().decode(Reply<Value>.self, from: Data($0.utf8)).answer }
    }

    /// Runs a query with a single result on the ledger.
    package func inLedger(_ query: String) throws -> String {
        let ledger = home.path.appending(".local/state/steward/ledger.sqlite").text
        return try shell(["sqlite3", ledger, query]).check().output.trimmingCharacters(in: .newlines)
    }

    /// Today's note, below `Steward`.
    package func today() -> BytePath {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd"
        let day = formatter.string(from: Date())
        return BytePath("notes/capture/\(day.prefix(4))/\(day.prefix(7))/\(day).md")
    }

    /// Makes a folder of a place.
    package func folder(_ relative: BytePath) throws { try Durable.makeDirectory(path(relative)) }
}

extension String {
    package func occurrences(of part: String) -> Int { components(separatedBy: part).count - 1 }
}
