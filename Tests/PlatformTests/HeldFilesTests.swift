import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Files held by a job")
struct HeldFilesTests {
    private let folder: TemporaryFolder
    private let place: BytePath
    private let victim: BytePath

    init() throws {
        folder = try TemporaryFolder()
        place = folder.path.appending("place")
        victim = folder.path.appending("victim")
        try folder.write("place/in/file", "mine")
        try folder.write("victim/file", "secret")
    }

    private func files(_ links: Root.Links = .never) -> HeldFiles {
        HeldFiles { [place] path in
            guard let open = try FolderIdentity.open(place), let relative = path.relative(to: place) else {
                throw Fault(.transient, "away", path: path)
            }
            return (Root(open, links: links), relative)
        }
    }

    private func at(_ name: String) -> BytePath { place.appending(name) }

    /// The attack: the folder is moved away and replaced by a link to another user's.
    private func swap() {
        #expect(rename(at("in").text, at("aside").text) == 0)
        #expect(symlink(victim.text, at("in").text) == 0)
    }

    private let noRecord: Mover.Record = { _, _ in }

    @Test("Nothing is moved or written into a folder replaced since it was opened, and the source stays")
    func displaced() throws {
        let files = files()
        try folder.write("place/to/there", "there")
        #expect(try files.status(at("to/there")) != nil)
        let hash = try files.hash(at("in/file"))
        #expect(rename(at("to").text, at("gone").text) == 0)
        mkdir(at("to").text, 0o700)
        let tries: [() throws -> Void] = [
            { _ = try files.move(at("in/file"), expecting: hash, to: [at("to/new")], record: noRecord) },
            { _ = try files.copy(at("in/file"), expecting: hash, to: [at("to/new")], record: noRecord) },
            { _ = try files.create([1], at: [at("to/new")], record: noRecord) },
        ]
        for attempt in tries {
            let fault = #expect(throws: Fault.self) { try attempt() }
            #expect(fault?.kind == .transient && fault?.code == StandingFolder.displaced)
        }
        #expect(try folder.read("place/in/file") == "mine")
        #expect(try listDirectory(at("gone")).map(\.name) == [Array("there".utf8)])
        // Opened again, it is the one with that name.
        let placed = try self.files().move(at("in/file"), expecting: hash, to: [at("to/new")], record: noRecord)
        #expect(try Descriptor(placed.path).readAll() == Array("mine".utf8))
    }

    @Test("A name refers to the file that had it first, until the files are closed")
    func sameFile() throws {
        let files = files()
        let first = try files.file(at("in/file")).status()
        let other = try folder.write("place/in/other", "another")
        #expect(rename(other.text, at("in/file").text) == 0)
        #expect(try files.file(at("in/file")).status().isSameFile(as: first))
        files.closeFiles()
        #expect(try !files.file(at("in/file")).status().isSameFile(as: first))
    }

    @Test("A folder replaced by a link after it was opened is still the original")
    func exchanged() throws {
        let files = files()
        let hash = try files.hash(at("in/file"))
        swap()
        #expect(try files.open(at("in/file")).readAll() == Array("mine".utf8))
        let placed = try files.move(at("in/file"), expecting: hash, to: [at("in/new")], record: noRecord)
        #expect(placed.path == at("in/new"))
        #expect(try Descriptor(at("aside/new")).readAll() == Array("mine".utf8))
        #expect(try listDirectory(victim).map(\.name) == [Array("file".utf8)])
    }

    @Test(
        "If any part of the path to the job's file is gone, every operation says so",
        arguments: ["in", "in/file"])
    func gone(part: String) throws {
        let hash = try self.files().hash(at("in/file"))
        #expect(rename(at(part).text, at("moved").text) == 0)
        let file = at("in/file")
        let asked: [(HeldFiles) throws -> Void] = [
            { _ = try $0.open(file) }, { _ = try $0.file(file) }, { _ = try $0.judged(file) },
            { _ = try $0.present(file) }, { _ = try $0.hash(file) }, { _ = try $0.openFollowing(file) },
            { _ = try $0.move(file, expecting: hash, to: [self.at("new")], record: self.noRecord) },
            { _ = try $0.copy(file, expecting: hash, to: [self.at("new")], record: self.noRecord) },
        ]
        for ask in asked {
            let files = self.files()
            files.begin(on: file, size: nil)
            let fault = #expect(throws: Fault.self) { try ask(files) }
            #expect(fault?.kind == .superseded, "\(fault?.message ?? "")")
            #expect(try files.isGone(file))
        }
        // A file missing elsewhere is an ordinary failure.
        let files = self.files()
        files.begin(on: file, size: nil)
        let fault = #expect(throws: Fault.self) { try files.open(at("no/such")) }
        #expect(fault?.kind == .failed && fault?.errno == ENOENT)
    }

    @Test("A folder moved away with the source is not recreated, but others are")
    func notMadeAgain() throws {
        let files = files()
        files.begin(on: at("in/file"), size: nil)
        #expect(rename(at("in").text, at("moved").text) == 0)
        for target in ["in/new", "in/deep/new"] {
            let fault = #expect(throws: Fault.self) { try files.makeFolders(for: at(target)) }
            #expect(fault?.kind == .superseded)
        }
        try files.makeFolders(for: at("other/deep/new"))
        #expect(
            try listDirectory(place).map(\.name).sorted { $0.lexicographicallyPrecedes($1) } == [
                Array("moved".utf8), Array("other".utf8),
            ])
    }

    @Test("A link in the path is rejected for every operation, with advice on how to allow it")
    func link() throws {
        swap()
        let files = files()
        let asked: [() throws -> Void] = [
            { _ = try files.status(at("in/file")) }, { _ = try files.open(at("in/file")) },
            { _ = try files.hash(at("in/file")) }, { _ = try files.list(at("in")) },
            { try files.remove(at("in/file")) }, { try files.makeFolders(for: at("in/deep/new")) },
            { _ = try files.stage([1], for: at("in/new")) }, { _ = try files.renameNew(at("in/file"), to: at("x")) },
        ]
        for ask in asked {
            let fault = #expect(throws: Fault.self) { try ask() }
            #expect(fault?.kind == .failed && fault?.code == Fault.link)
            #expect(fault?.message.contains("follow-links: inside") == true)
        }
        #expect(try folder.read("victim/file") == "secret")
    }

    @Test("Links that stay inside are followed if the place allows it, others never")
    func inside() throws {
        symlink("in", at("link").text)
        symlink("in/file", at("name").text)
        symlink(victim.text, at("out").text)
        let files = files(.inside)
        #expect(try files.open(at("link/file")).readAll() == Array("mine".utf8))
        #expect(try files.openFollowing(at("name")).readAll() == Array("mine".utf8))
        #expect(try files.resolved(at("name")) == at("in/file"))
        #expect(throws: Fault.self) { try files.open(at("out/file")) }
        let only = self.files()
        #expect(throws: Fault.self) { try only.openFollowing(at("name")) }
    }

    @Test("A file that takes the name between opening and renaming is not moved, and stays")
    func otherFile() throws {
        let files = files()
        let hash = try files.hash(at("in/file"))
        let entry = try files.entry(at("in/file"))
        let source = try Mover.Source(entry, files.file(at("in/file")), expecting: hash)
        #expect(rename(at("in/file").text, at("in/old").text) == 0)
        try folder.write("place/in/file", "another")
        let fault = #expect(throws: Fault.self) {
            try Mover.move(source, to: [at("in/new")], through: files.entry, record: noRecord)
        }
        #expect(fault?.kind == .superseded)
        #expect(try folder.read("place/in/file") == "another" && folder.read("place/in/old") == "mine")
        #expect(try FileStatus.of(at("in/new")) == nil)
    }

    @Test("A file that others can change is copied: new inode, no other link, no rights, the agent's own")
    func forGood() throws {
        #expect(Glibc.link(at("in/file").text, at("kept").text) == 0 && chmod(at("in/file").text, 0o4755) == 0)
        let files = files()
        let placed = try files.move(
            at("in/file"), expecting: files.hash(at("in/file")), to: [at("in/new")], .forGood, record: noRecord)
        let status = try #require(try FileStatus.of(at("in/new")))
        #expect(status.links == 1 && status.mode == 0o755 && status.owner == geteuid())
        #expect(placed.dropped == ["setuid", "other links"])
        #expect(try FileStatus.of(at("in/file")) == nil && FileStatus.of(at("kept"))?.links == 1)
    }

    @Test("A pipe, a folder and a link cannot be opened as files, and nobody blocks on them")
    func noFile() throws {
        #expect(mkfifo(at("pipe").text, 0o600) == 0 && mkdir(at("folder").text, 0o700) == 0)
        symlink("in/file", at("link").text)
        for name in ["pipe", "folder", "link", "none"] {
            let fault = #expect(throws: Fault.self) { try files().file(at(name)) }
            #expect(fault?.kind == .superseded, "\(name)")
        }
    }

    @Test("Folders are created in the path, never the root")
    func makeFolders() throws {
        try files().makeFolders(for: at("a/b/c"), mode: 0o700)
        #expect(try FileStatus.of(at("a/b"))?.mode == 0o700)
        #expect(rename(place.text, folder.path.appending("gone").text) == 0)
        #expect(throws: Fault.self) { try files().makeFolders(for: at("d/e")) }
        #expect(try FileStatus.of(place) == nil)
    }
}

@Suite("Sparse files")
struct SparseFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Data, a hole of 8 MiB, data, and a hole to the end.
    private func sparse() throws -> BytePath {
        let path = folder.path.appending("sparse")
        let file = try Descriptor(path, O_RDWR | O_CREAT | O_EXCL)
        try file.write(Array("begin".utf8), at: 0)
        try file.write(Array("middle".utf8), at: 8 << 20)
        try file.truncate(to: 16 << 20)
        return path
    }

    @Test("The hash covers all bytes, including the zeros of holes")
    func hash() throws {
        let path = try sparse()
        let whole = try Descriptor(path).readAll()
        #expect(whole.count == 16 << 20)
        #expect(try ContentHash.ofFile(path) == ContentHash(of: whole))
    }

    @Test("A copy has the same bytes and the same holes")
    func copy() throws {
        let path = try sparse()
        let target = folder.path.appending("copy")
        let copy = try Durable.stageCopy(of: Descriptor(path), for: DirectoryEntry(own: target))
        let status = try copy.file.status()
        #expect(try copy.hash == ContentHash.ofFile(path) && ContentHash.ofFile(copy.entry.path) == copy.hash)
        #expect(status.size == 16 << 20)
        let source = try #require(try FileStatus.of(path))
        // On a file system without holes, the source takes its full size as well.
        #expect(status.allocated <= source.allocated + (1 << 20))
    }

    @Test("A cancelled read ends")
    func ends() throws {
        let file = try Descriptor(sparse())
        #expect(throws: CancellationError.self) { try SparseFile.hash(file) { true } }
    }
}
