import DotLifeDomain
import DotLifePersistence
import Foundation
import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

/// Hands out numbers, each once.
private final class Places: Sendable {
    private let next = Atomic<Int>(0)

    func take() -> Int { next.add(1, ordering: .relaxed).oldValue }
}

/// Captures that come at the same time share a commit.
@Suite("Storing many captures at once")
struct CaptureCommitTests {
    private let folder: TemporaryFolder
    private var home: BytePath { folder.path.appending("captures") }

    init() throws { folder = try TemporaryFolder() }

    private static func on<R: Sendable>(
        threads: Bool, _ body: @concurrent @Sendable () async throws -> R
    ) async throws -> R {
        threads ? try await BlockingPool.run(for: nil, body) : try await body()
    }

    @Test(
        "Each is stored once, whoever stores it and how often, on threads that may block and on others",
        arguments: [true, false])
    func once(onThreads: Bool) async throws {
        let store = try await CaptureStore.open(in: home).store
        let isNew = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<600 {
                group.addTask {
                    try await Self.on(threads: onThreads) {
                        try await store.add(.note("note \(number % 300)"), key: "job/\(number % 300)").isNew
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(isNew == 300)
        try await store.close()
        let again = try await CaptureStore.open(in: home).store
        let texts = try await again.fetch(ExperienceFetchRequest()).compactMap(\.noteText)
        #expect(texts.sorted() == (0..<300).map { "note \($0)" }.sorted())
        #expect(try await again.search("note 299").map(\.record.noteText) == ["note 299"])
    }

    @Test("One that cannot be stored does not affect the others")
    func oneFails() async throws {
        let store = try await CaptureStore.open(in: home).store
        let never = Date(timeIntervalSinceReferenceDate: 1e12)
        let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await BlockingPool.run(for: nil) {
                        do {
                            let time = number % 10 == 3 ? never : Date(timeIntervalSince1970: 1_795_000_000)
                            _ = try await store.add(.note("note \(number)", timestamp: time), key: "job/\(number)")
                            return false
                        } catch let fault as Fault {
                            #expect(fault.kind == .refused)
                            return true
                        }
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(refused == 20)
        for number in 0..<200 {
            #expect(try await store.contains(key: "job/\(number)") == (number % 10 != 3), "\(number)")
        }
    }

    @Test("Every acknowledged capture survives SIGKILL, once, even if it is added again")
    func killed() async throws {
        let path: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try await CaptureStore.open(in: BytePath(path + "/captures")).store
            let acknowledged = try Descriptor(BytePath(path + "/acknowledged"), O_WRONLY | O_CREAT)
            let count = Places()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<16 {
                    group.addTask {
                        try await BlockingPool.run(for: nil) {
                            for round in 0..<200 {
                                let key = "\(writer).\(round)"
                                _ = try await store.add(.note("note \(key)"), key: key)
                                // It stays in the kernel when the process has ended.
                                let place = count.take()
                                try acknowledged.write([UInt8(writer), UInt8(round), 1, 10], at: Int64(place) * 4)
                                if place == 300 { kill(getpid(), SIGKILL) }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        let bytes = try Descriptor(folder.path.appending("acknowledged")).readAll()
        let store = try await CaptureStore.open(in: home).store
        var keys: [String] = []
        for start in stride(from: 0, to: bytes.count - 3, by: 4) where bytes[start + 2] == 1 {
            keys.append("\(bytes[start]).\(bytes[start + 1])")
        }
        #expect(keys.count >= 300)
        let before = try await store.fetch(ExperienceFetchRequest())
        #expect(Set(before.map(\.noteText)).count == before.count)
        for key in keys {
            #expect(try await !store.add(.note("note \(key)"), key: key).isNew, "\(key)")
        }
        #expect(try await store.fetch(ExperienceFetchRequest()).count == before.count)
    }
}
