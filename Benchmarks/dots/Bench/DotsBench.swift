import DotLifeDomain
import DotLifePersistence
import Foundation
import OwnFiles
import Platform

/// What the benchmarks measure of the dot store. Prints milliseconds, one figure a line.
@main
struct DotsBench {
    struct Usage: Error {}

    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count >= 2 else { throw Usage() }
        let folder = BytePath(words[1])
        switch (words[0], words.count) {
        case ("open", 2): try await timed { _ = try await CaptureStore.open(in: folder) }
        case ("grid", 4): try await grid(folder, year: Int(words[2]) ?? 0, rounds: Int(words[3]) ?? 0)
        case ("search", 4): try await search(folder, words[2], rounds: Int(words[3]) ?? 0)
        case ("insert", 3): try await insert(folder, count: Int(words[2]) ?? 0)
        case ("insert-job", 3):
            // As the agent's jobs do: on a thread that may block.
            try await BlockingPool.run(for: nil) { try await insert(folder, count: Int(words[2]) ?? 0) }
        case ("import", 3): try await timed { try await report(store(folder).importCaptures(from: BytePath(words[2]))) }
        case ("export", 3): try await timed { _ = try await store(folder).export(to: BytePath(words[2])) }
        case ("backup", 3): try await timed { _ = try await store(folder).backUp(to: BytePath(words[2])) }
        case ("check", 2): try await timed { try await report(store(folder).check()) }
        case ("read", 3): try read(folder, times: Int(words[2]) ?? 0)
        default: throw Usage()
        }
    }

    private static func store(_ folder: BytePath) async throws -> CaptureStore {
        try await CaptureStore.open(in: folder, checked: false).store
    }

    private static func timed(_ body: () async throws -> Void) async throws {
        let start = ContinuousClock.now
        try await body()
        show(start.duration(to: .now))
    }

    private static func show(_ time: Duration) {
        let parts = time.components
        print(Double(parts.seconds) * 1e3 + Double(parts.attoseconds) / 1e15)
    }

    private static func report(_ result: StoreImport) {
        if result.problemCount > 0 { print("problems: \(result.problems.prefix(3))") }
    }

    private static func report(_ result: StoreCheck) {
        if !result.findings.isEmpty { print("findings: \(result.findings.prefix(3))") }
    }

    /// The counts of a year's days, as a zone with summer time has them.
    private static func grid(_ folder: BytePath, year: Int, rounds: Int) async throws {
        let store = try await store(folder)
        let zone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
        let bucketing = TimeBucketingService(timeZone: zone)
        let start = bucketing.calendar.date(from: DateComponents(year: year, month: 1, day: 1)) ?? .now
        for _ in 0..<rounds {
            try await timed {
                let days = bucketing.dayBuckets(ofYearContaining: start)
                let counts = try await store.summaries(for: days).map(\.count)
                guard counts.count >= 365, counts.contains(where: { $0 > 0 }) else { throw Usage() }
            }
        }
    }

    private static func search(_ folder: BytePath, _ text: String, rounds: Int) async throws {
        let store = try await store(folder)
        for _ in 0..<rounds { try await timed { _ = try await store.search(text) } }
    }

    /// One after the other, each on the disk before the next.
    private static func insert(_ folder: BytePath, count: Int) async throws {
        let store = try await store(folder)
        let start = Date(timeIntervalSince1970: 1_767_225_600)
        try await timed {
            for number in 0..<count {
                let time = start.addingTimeInterval(Double(number) * 31)
                let note = try ExperienceRequest.note("a note of a few words, number \(number)", timestamp: time)
                _ = try await store.add(note, key: "bench \(number)")
            }
        }
    }

    /// Dropped files are read and judged, again and again.
    private static func read(_ folder: BytePath, times: Int) throws {
        let reader = CaptureReader(timeZone: .gmt)
        for _ in 0..<times {
            for entry in try listDirectory(folder) {
                let path = folder.appending(name: entry.name)
                _ = try? reader.read(Descriptor(path), called: path, arrival: .now)
            }
        }
    }
}
