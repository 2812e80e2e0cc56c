import ComicArchive
import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Judges many archives at a time, in as many workers as the machine has cores.
struct HostileTrial {
    let folder: TemporaryFolder
    let validator: ComicValidator
    private let worker: ArchiveWorker

    init(_ name: String) throws {
        folder = try TemporaryFolder(name)
        worker = try builtWorker()
        validator = ComicValidator(worker: worker)
    }

    /// One verdict for each, in order.
    func verdicts(_ archives: [[UInt8]], mode: ValidationMode = .strict) async throws -> [Verdict] {
        try await withThrowingTaskGroup(of: (Int, Verdict).self) { group in
            for (index, bytes) in archives.enumerated() {
                group.addTask {
                    let path = try folder.write(BytePath("\(randomHex(8)).cbz"), bytes)
                    let verdict = try await validator.validate(path, mode: mode)
                    return (index, verdict)
                }
            }
            var found: [Int: Verdict] = [:]
            for try await (index, verdict) in group { found[index] = verdict }
            return archives.indices.compactMap { found[$0] }
        }
    }

    /// The bytes of the first entry extracted from each; nil if that is refused.
    func firstEntries(_ archives: [[UInt8]]) async throws -> [[UInt8]?] {
        try await withThrowingTaskGroup(of: (Int, [UInt8]?).self) { group in
            for (index, bytes) in archives.enumerated() {
                group.addTask {
                    let path = try folder.write(BytePath("\(randomHex(8)).cbr"), bytes)
                    let target = BytePath("\(path)-page")
                    do {
                        _ = try await worker.extract(path, [0: target])
                        return (index, try Descriptor(target).readAll())
                    } catch {
                        // A refused archive leaves nothing behind.
                        return (index, try FileStatus.of(target) == nil ? nil : [])
                    }
                }
            }
            var found: [Int: [UInt8]?] = [:]
            for try await (index, bytes) in group { found[index] = bytes }
            return archives.indices.map { found[$0] ?? nil }
        }
    }

    /// The accepted pages, each with its hash.
    static func pages(_ verdict: Verdict) -> [PageReport] { verdict.report?.pages.filter { $0.damage == nil } ?? [] }
}
