import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Private folders of a process")
struct PrivateFolderTests {
    private let parent: TemporaryFolder

    init() throws { parent = try TemporaryFolder("private") }

    private func makeOld(_ path: BytePath) {
        let time = timespec(tv_sec: time(nil) - 3600, tv_nsec: 0)
        _ = utimensat(AT_FDCWD, path.text, [time, time], 0)
    }

    @Test("Nobody else can look into one, and it is removed with its contents")
    func removed() throws {
        let folder = try PrivateFolder("page", in: parent.path)
        #expect(try FileStatus.of(folder.path)?.mode == 0o700)
        _ = try Descriptor(folder.path.appending("1.png"), O_WRONLY | O_CREAT)
        try folder.remove()
        #expect(try listDirectory(parent.path).isEmpty)
    }

    @Test("Those left by killed processes are removed when the next one is made, and nothing else")
    func swept() throws {
        let left = try parent.write("steward-page-0123/1.png", "page").parent
        let others = [
            try parent.write("steward-other-0123/1.png", "of another purpose").parent,
            try parent.write("steward-page-young/1.png", "being made").parent,
        ]
        let used = try PrivateFolder("page", in: parent.path)
        for folder in [left, others[0], used.path] { makeOld(folder) }
        try PrivateFolder("page", in: parent.path).remove()
        #expect(try FileStatus.of(left) == nil)
        for folder in others + [used.path] { #expect(try FileStatus.of(folder) != nil, "\(folder)") }
    }
}
