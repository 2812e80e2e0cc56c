import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Opening below a folder")
struct SafePathTests {
    private let folder: TemporaryFolder
    private let root: BytePath

    init() throws {
        folder = try TemporaryFolder()
        root = folder.path.appending("root")
        try folder.write("secret", "outside")
        try folder.write("root/deep/file", "inside")
    }

    private func link(_ target: BytePath, _ name: BytePath) {
        symlink(target.text, root.appending(name).text)
    }

    private func read(_ path: BytePath) throws -> String {
        String(decoding: try SafePath.open(path, beneath: root).readAll(), as: UTF8.self)
    }

    @Test(
        "No path leads outside",
        arguments: ["../secret", "deep/../../secret", "absolute", "relative", "folder/secret", "up/secret", "chain"])
    func escapes(path: String) throws {
        link(folder.path.appending("secret"), "absolute")
        link("../secret", "relative")
        link("..", "up")
        link(folder.path, "folder")
        link("relative", "chain")
        let fault = #expect(throws: Fault.self) { try read(BytePath(path)) }
        #expect(fault?.errno == EXDEV)
        #expect(fault?.kind == .refused)
        let directory = try Descriptor(root, O_RDONLY | O_DIRECTORY)
        let located = #expect(throws: Fault.self) { try SafePath.locate(BytePath(path), beneath: directory) }
        #expect(located?.errno == EXDEV)
    }

    @Test("An absolute path is rejected even if it points inside")
    func absolute() {
        let path = root.appending("deep/file")
        // Not by appending: the path is passed unchanged.
        #expect(throws: Fault.self) { try SafePath.open(path, beneath: root) }
    }

    @Test("Nothing is created outside")
    func creating() throws {
        link(folder.path, "out")
        #expect(throws: Fault.self) { try SafePath.open("out/new", beneath: root, O_WRONLY | O_CREAT) }
        #expect(throws: Fault.self) { try SafePath.open("../new", beneath: root, O_WRONLY | O_CREAT) }
        #expect(try FileStatus.of(folder.path.appending("new")) == nil)
    }

    @Test("Files, links that stay inside, and the root itself are opened")
    func inside() throws {
        link("deep/file", "good")
        link("deep", "down")
        #expect(try read("deep/file") == "inside")
        #expect(try read("good") == "inside")
        #expect(try read("down/../deep/file") == "inside")
        #expect(try SafePath.open("", beneath: root, O_RDONLY | O_DIRECTORY).status().kind == .directory)
        let file = try SafePath.open("deep/new", beneath: root, O_WRONLY | O_CREAT | O_EXCL, mode: 0o640)
        #expect(try file.status().mode & 0o137 == 0)
    }

    @Test("A link at the folder itself is the user's way of relocating it")
    func linkedRoot() throws {
        let link = folder.path.appending("link")
        symlink(root.text, link.text)
        #expect(try SafePath.open("deep/file", beneath: link).readAll() == Array("inside".utf8))
    }

    @Test("A final link is found itself if it is not to be followed")
    func locating() throws {
        link("deep/file", "good")
        let directory = try Descriptor(root, O_RDONLY | O_DIRECTORY)
        #expect(try SafePath.locate("good", beneath: directory).status().kind == .file)
        #expect(try SafePath.locate("good", beneath: directory, follow: false).status().kind == .link)
    }

    @Test("The descriptor is not inherited by programs")
    func closeOnExec() throws {
        #expect(fcntl(try SafePath.open("deep/file", beneath: root).raw, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(try Descriptor(root.appending("deep/file")).raw, F_GETFD) & FD_CLOEXEC != 0)
    }
}
