import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import NoteActions

@Suite("Recorded writes of a review") struct ReviewWritingTests {
    private let folder: TemporaryFolder
    private let path: BytePath
    private let base = ContentHash(of: Array("before".utf8))
    private let result = ContentHash(of: Array("- [ ] one".utf8))

    init() throws {
        folder = try TemporaryFolder()
        path = try folder.write("essay.review.md", "- [ ] one")
    }

    private func left(_ base: ContentHash?) throws -> FileEffect? {
        try FileEffect.left(at: path, base: base, result, in: HeldFiles(below: [folder.path]))
    }

    @Test("Includes the file it wrote, new or replacing another version")
    func own() throws {
        let print = try #require(try FileStatus.of(path)).fingerprint
        #expect(try left(nil) == .created(path, print, result))
        #expect(try left(base) == .wrote(path, base: base, print, result))
    }

    @Test("Excludes a version saved right afterwards, which is news")
    func savedByOthers() throws {
        // As editors save: another file under the name, as long and as old as ours.
        let print = try #require(try FileStatus.of(path)).fingerprint
        let saved = try folder.write("saved", "- [x] one")
        var times = [timespec](repeating: timespec(), count: 2)
        for index in 0..<2 {
            let (seconds, rest) = Int(print.modified).quotientAndRemainder(dividingBy: 1_000_000_000)
            times[index] = timespec(tv_sec: seconds, tv_nsec: rest)
        }
        try #require(utimensat(AT_FDCWD, saved.text, times, 0) == 0)
        try #require(rename(saved.text, path.text) == 0)
        #expect(try left(nil) == nil)
        #expect(try left(base) == nil)
    }

    @Test("Excludes a file that is gone or was replaced")
    func gone() throws {
        try Durable.remove(path)
        #expect(try left(nil) == nil)
        try Durable.makeDirectory(path)
        #expect(try left(base) == nil)
    }
}
