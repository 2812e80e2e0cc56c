import DotLifeDomain
import DotLifePersistence
import Foundation
import TestSupport
import Testing

/// The contract of every `ExperienceRepository`. A new one is one more case here.
@Suite("Every repository of experiences")
struct RepositoryContractTests {
    enum Subject: CaseIterable, Sendable { case captureStore, memory }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func make(_ subject: Subject) async throws -> any ExperienceRepository {
        switch subject {
        case .captureStore: try await CaptureStore.open(in: folder.path).store
        case .memory: MemoryRepository()
        }
    }

    @Test("Returns what was created, by id and in a query", arguments: Subject.allCases)
    func creates(_ subject: Subject) async throws {
        let repository = try await make(subject)
        let time = try at("2026-11-21T09:30:00Z")
        let requests: [ExperienceRequest] = [
            try .note("  rain ", momentType: .today, timestamp: time), try .link("example.org", timestamp: time),
            .dot(momentType: .thisWeek, timestamp: time), try .photo(Data(Picture.png), timestamp: time),
            try .note(
                "with files", timestamp: time,
                attachments: [AttachmentSource(.data(Data([1])), type: .file, originalName: Array("a.bin".utf8))]),
        ]
        for request in requests {
            let made = try await repository.create(request)
            #expect(made.timestamp == time)
            #expect(made.momentType == request.momentType && made.experienceType == request.experienceType)
            #expect(made.noteText == request.noteText && made.linkURL == request.linkURL)
            #expect(made.attachments.map(\.originalName) == request.attachments.map(\.originalName))
            #expect(try await repository.fetch(byID: made.id) == made)
            #expect(try await repository.fetch(ExperienceFetchRequest(limit: 1)) == [made])
        }
        #expect(try await repository.fetch(ExperienceFetchRequest()).count == requests.count)
        #expect(try await repository.fetch(byID: UUID()) == nil)
    }

    @Test("Uses the time of creation if none is given", arguments: Subject.allCases)
    func presentTime(_ subject: Subject) async throws {
        let made = try await make(subject).create(.dot())
        #expect(made.timestamp == made.createdAt)
    }

    @Test("Deletes once, and then reports that nothing was found", arguments: Subject.allCases)
    func deletes(_ subject: Subject) async throws {
        let repository = try await make(subject)
        let (gone, kept) = (try await repository.create(.dot()), try await repository.create(.dot()))
        try await repository.delete(byID: gone.id)
        await #expect(throws: ExperienceError.notFound(gone.id)) { try await repository.delete(byID: gone.id) }
        #expect(try await repository.fetch(ExperienceFetchRequest()) == [kept])
    }

    @Test("Rejects a time that cannot be stored, with its own error", arguments: Subject.allCases)
    func impossibleTime(_ subject: Subject) async throws {
        let repository = try await make(subject)
        for time in [Date.distantFuture.addingTimeInterval(1e12), Date(timeIntervalSince1970: .infinity)] {
            await #expect(throws: ExperienceError.self) { try await repository.create(.dot(timestamp: time)) }
        }
        #expect(try await repository.fetch(ExperienceFetchRequest()).isEmpty)
    }

    @Test("Returns the newest first, and the last stored first among equals", arguments: Subject.allCases)
    func order(_ subject: Subject) async throws {
        let repository = try await make(subject)
        let time = try at("2026-11-21T09:30:00Z")
        var made: [ExperienceRecord] = []
        for offset in [0.0, 60, 0, -60, 60] {
            made.append(try await repository.create(.dot(timestamp: time.addingTimeInterval(offset))))
        }
        let order = [4, 1, 2, 0, 3].map { made[$0] }
        #expect(try await repository.fetch(ExperienceFetchRequest()) == order)
        #expect(try await repository.fetch(ExperienceFetchRequest(limit: 2, offset: 1)) == Array(order[1...2]))
        #expect(try await repository.fetch(ExperienceFetchRequest(limit: 0)).isEmpty)
        #expect(try await repository.fetch(ExperienceFetchRequest(offset: 9)).isEmpty)
    }

    @Test("Agrees with a simple model on random captures")
    func agrees() async throws {
        var random = SeededGenerator(for: "RepositoryContractTests.agrees")
        let (store, memory) = (try await make(.captureStore), try await make(.memory))
        let zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Monrovia", "Asia/Kolkata"]
        let services = zones.map { TimeBucketingService(timeZone: TimeZone(identifier: $0) ?? .gmt) }
        let (early, late) = (try at("1969-03-01T00:00:00Z"), try at("1974-01-01T00:00:00Z"))
        let span = late.timeIntervalSince(early)
        var times: [Date] = []
        for _ in 0..<400 {
            // Whole seconds and hour boundaries too, where an off-by-one shows.
            let second = Double.random(in: 0..<span, using: &random).rounded(.down)
            let steps: [Double] = [1, 900, 3600, 86_400]
            let step = steps.randomElement(using: &random) ?? 1
            let time = early.addingTimeInterval((second / step).rounded(.down) * step)
            times.append(time)
            let moment = MomentType.allCases.randomElement(using: &random) ?? .now
            let request = try ExperienceRequest.dot(momentType: moment, timestamp: time, attachments: [])
            _ = try await store.create(request)
            _ = try await memory.create(request)
        }
        for round in 0..<50 {
            let service = services[round % services.count]
            let some = times.randomElement(using: &random) ?? early
            let types: [TimeBucketType] = [.hour, .day, .week, .month, .year]
            let buckets = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                service.bucket(
                    types.randomElement(using: &random) ?? .day,
                    containing: early.addingTimeInterval(Double.random(in: 0..<span, using: &random)))
            }
            #expect(try await store.summaries(for: buckets) == memory.summaries(for: buckets))
            let end = some.addingTimeInterval(Double(Int.random(in: 0...90, using: &random)) * 86_400)
            let counts = try await store.experienceCountsByDay(from: some, to: end, in: service)
            #expect(try await counts == memory.experienceCountsByDay(from: some, to: end, in: service))
            let kinds: [Set<MomentType>] = [[], [.now], [.today, .thisWeek]]
            let request = ExperienceFetchRequest(
                startDate: Bool.random(using: &random) ? some : nil, endDate: Bool.random(using: &random) ? end : nil,
                momentTypes: kinds.randomElement(using: &random), limit: 50, offset: 3)
            #expect(
                try await store.fetch(request).map(\.timestamp) == memory.fetch(request).map(\.timestamp))
        }
    }
}
