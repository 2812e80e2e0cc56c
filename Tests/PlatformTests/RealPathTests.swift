import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Paths without links")
struct RealPathTests {
    @Test("Links, `.` and `..` are resolved; a missing file has no real path")
    func followed() throws {
        let folder = try TemporaryFolder()
        let root = try #require(folder.path.real)
        try folder.write("in/a\u{FFFD}.md", "text")
        #expect(symlink("in", folder.path.appending("link").text) == 0)
        #expect(symlink("nowhere", folder.path.appending("dangling").text) == 0)
        #expect(folder.path.appending("link/./../in").real == root.appending("in"))
        #expect(folder.path.appending("link/a\u{FFFD}.md").real == root.appending("in/a\u{FFFD}.md"))
        #expect(folder.path.appending("dangling").real == nil)
        #expect(folder.path.appending("in/missing").real == nil)
        #expect(folder.path.appending("in/a\u{FFFD}.md/below").real == nil)
    }

    @Test("Names that are not UTF-8 survive")
    func bytes() throws {
        let folder = try TemporaryFolder()
        let name: [UInt8] = [0x61, 0xFF, 0x80]
        try folder.write(BytePath(bytes: name), "text")
        #expect(folder.path.appending(name: name).real == folder.path.real?.appending(name: name))
    }
}
