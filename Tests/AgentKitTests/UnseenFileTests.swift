import OwnFiles
import Platform
import TestSupport
import Testing

@testable import AgentKit

/// Files that a command extracts from a vault are plaintext: no partial file may be left behind.
@Suite("Files that are invisible until complete", .serialized)
struct UnseenFileTests {
    private let home: TemporaryFolder
    private var target: BytePath { home.path.appending("page.png") }

    init() throws { home = try TemporaryFolder("steward-unseen") }

    private func names() throws -> [BytePath] { try listDirectory(home.path).map { BytePath(bytes: $0.name) }.sorted() }

    private func place(replaces: Bool = false) -> PictureTarget {
        .path(target, isFolder: false, replaces: replaces)
    }

    @Test("Nothing is in the folder while it is written, and a failure leaves nothing")
    func nameless() throws {
        var during: [BytePath] = ["never asked"]
        let written = try place().deliver(named: [], mode: 0o600) { file in
            try PictureTarget.write([1, 2, 3], to: file)
            during = try names()
        }
        #expect(during == [] && written == target)
        #expect(try Descriptor(target).readAll() == [1, 2, 3])
        #expect(try FileStatus.of(target)?.mode == 0o600)

        #expect(throws: TestFailure.self) {
            _ = try place(replaces: true).deliver(named: []) { file in
                try PictureTarget.write([4], to: file)
                during = try names()
                throw TestFailure("interrupted")
            }
        }
        #expect(during == ["page.png"])
        #expect(try names() == ["page.png"])
        _ = try place(replaces: true).deliver(named: []) { try PictureTarget.write([5], to: $0) }
        #expect(try Descriptor(target).readAll() == [5])
        #expect(try names() == ["page.png"])
    }

    @Test("A name that was taken meanwhile is not overwritten")
    func taken() throws {
        #expect(throws: Fault.self) {
            _ = try place().deliver(named: []) { file in
                try PictureTarget.write([1], to: file)
                try home.write("page.png", "another's")
            }
        }
        #expect(try Descriptor(target).readAll() == Array("another's".utf8))
        #expect(try names() == ["page.png"])
    }

    @Test(
        "If every file needs a name, it is a hidden one, which is removed on failure",
        arguments: [false, true])
    func hidden(replaces: Bool) throws {
        if replaces { try home.write("page.png", "before") }
        let failed = try UnseenFile(for: target, mode: 0o600, mayBeNameless: false)
        try PictureTarget.write([1], to: failed.file)
        #expect(try names().contains { $0.text.hasPrefix(".steward-") })
        try failed.discard()
        #expect(try names() == (replaces ? ["page.png"] : []))

        let whole = try UnseenFile(for: target, mode: 0o600, mayBeNameless: false)
        try PictureTarget.write([7], to: whole.file)
        #expect(try whole.become(target, replaces: replaces))
        #expect(try Descriptor(target).readAll() == [7])
        #expect(try names() == ["page.png"])
    }

    @Test("A missing folder is reported as such")
    func noFolder() throws {
        let nowhere = PictureTarget.path(home.path.appending("none/p.png"), isFolder: false, replaces: false)
        let fault = #expect(throws: Fault.self) { _ = try nowhere.deliver(named: []) { _ in } }
        #expect(fault?.message.contains("there is no folder") == true)
    }
}
