import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import TKCore

/// Drafts of another owner, writable for a group: only the owner could keep others from saving them meanwhile.
@Suite("Drafts owned by somebody else", .enabled(if: getuid() == 0, "needs root")) struct OthersDraftTests {
    private let folder: TemporaryFolder
    private let draft: BytePath

    init() throws {
        folder = try TemporaryFolder("tk-others")
        draft = try folder.write("draft.md", "old\n")
        chmod(folder.path.text, 0o777)
        chown(draft.text, 65_533, 65_532)
        chmod(draft.text, 0o660)
    }

    private func names() throws -> [String] {
        try listDirectory(folder.path).map { String(decoding: $0.name, as: UTF8.self) }.sorted()
    }

    @Test(
        "One is exchanged for a changed copy, so that a concurrent save would be noticed; nothing is left beside it"
    )
    func swapped() async throws {
        let before = try FileStatus.of(draft)
        await #expect(processExitsWith: .success) { [path = draft.text as String] in
            try Member.replace(path)
        }
        let status = try #require(try FileStatus.of(draft))
        #expect(status.inode != before?.inode && status.mode == 0o660 && status.group == 65_532)
        #expect(try folder.read("draft.md") == "new\n")
        #expect(try names() == ["draft.md"])
    }

    @Test(
        "Wherever tk is killed the draft is complete, old or new",
        arguments: ["written", "exchanged", "removed"])
    func killed(point: String) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = draft.text as String, point = point as String] in
            setenv("STEWARD_FAULT", "\(point):1", 1)
            try Member.replace(path)
        }
        #expect(["old\n", "new\n"].contains(try folder.read("draft.md")))
    }

    @Test("One with several names is left alone, and stays one file")
    func severalNames() async throws {
        #expect(link(draft.text, folder.path.appending("other.md").text) == 0)
        await #expect(processExitsWith: .success) { [path = draft.text as String] in
            let fault = #expect(throws: Fault.self) { try Member.replace(path) }
            #expect(fault?.kind == .refused && fault?.message.contains("has several names") == true)
        }
        #expect(try folder.read("draft.md") == "old\n" && FileStatus.of(draft)?.links == 2)
        #expect(try names() == ["draft.md", "other.md"])
    }
}

/// A user who may write such a draft without owning it.
private enum Member {
    static func replace(_ path: String) throws {
        setgroups(1, [65_532])
        setgid(65_534)
        setuid(65_534)
        try DraftWriting.replace(BytePath(path), Array("old\n".utf8), with: Array("new\n".utf8))
    }
}
