import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("The lock of a place")
struct PlaceLockTests {
    private let temporary: TemporaryFolder
    private let one = PlaceHolder(process: 11, host: "one", state: "/state/one")
    private let two = PlaceHolder(process: 22, host: "two", state: "/state/two")

    init() throws { temporary = try TemporaryFolder("place") }

    private func folder() throws -> Folder { Folder(try Descriptor(temporary.path, O_RDONLY | O_DIRECTORY)) }

    private func take(_ holder: PlaceHolder) throws -> PlaceLock {
        guard case .taken(let lock) = try PlaceLock.take(in: folder(), as: holder) else {
            throw TestFailure("the lock is not to be had")
        }
        return lock
    }

    private var file: BytePath { temporary.path.appending(name: PlaceLock.name) }

    @Test("A second agent learns who holds it, and gets it when that one releases it")
    func second() throws {
        let lock = try take(one)
        guard case .held(let holder) = try PlaceLock.take(in: folder(), as: two) else {
            throw TestFailure("two have it")
        }
        #expect(holder == one)
        #expect("\(holder)" == "process 11 on host one (state folder /state/one)")
        #expect(try PlaceLock.holder(in: folder()) == one)
        #expect(try PlaceLock.holder(in: folder(), except: [lock]) == nil)
        lock.release()
        #expect(try PlaceLock.holder(in: folder()) == nil)
        let next = try take(two)
        #expect(try PlaceLock.holder(in: folder()) == two)
        withExtendedLifetime(next) {}
    }

    @Test("A lock is lost when its file is removed, and the next one is on another file")
    func removed() throws {
        let lock = try take(one)
        #expect(try lock.stands(in: folder()))
        try Durable.remove(file)
        #expect(try !lock.stands(in: folder()))
        let next = try take(two)
        #expect(try next.stands(in: folder()) && !lock.stands(in: folder()))
    }

    @Test("A lock lost silently, as on NFS, is detected once another process has it")
    func lost() throws {
        let lock = try take(one)
        // The only open file that holds it, whatever its number.
        let status = try #require(try FileStatus.of(file))
        let raw = try #require(
            try listDirectory("/proc/self/fd").compactMap { Int32(String(decoding: $0.name, as: UTF8.self)) }.first {
                var found = stat()
                return fstat($0, &found) == 0 && UInt64(found.st_ino) == status.inode
                    && UInt64(found.st_dev) == status.device
            })
        try FileLock.release(Descriptor(owning: dup(raw), path: file))
        // Nobody else has taken it, so it is acquired again.
        #expect(try lock.stands(in: folder()))
        try FileLock.release(Descriptor(owning: dup(raw), path: file))
        let next = try take(two)
        #expect(try !lock.stands(in: folder()))
        #expect(try next.stands(in: folder()))
    }

    @Test("The file left by a killed agent is not a lock")
    func left() throws {
        try temporary.write(BytePath(bytes: PlaceLock.name), "process 1\nhost gone\nstate /gone\n")
        #expect(try PlaceLock.holder(in: folder()) == nil)
        let lock = try take(one)
        #expect(try temporary.read(BytePath(bytes: PlaceLock.name)) == "process 11\nhost one\nstate /state/one\n")
        withExtendedLifetime(lock) {}
    }

    @Test(
        "Anybody who can write to the folder can lock it, and nobody else",
        arguments: [
            (0o755 as mode_t, 0o600 as mode_t), (0o700, 0o600), (0o775, 0o660), (0o770, 0o660), (0o777, 0o666),
        ])
    func modes(of folder: mode_t, _ file: mode_t) throws {
        chmod(temporary.path.text, folder)
        let lock = try take(one)
        #expect(try FileStatus.of(self.file)?.mode == file)
        withExtendedLifetime(lock) {}
    }

    @Test("A lock path that is a link or not a regular file cannot be locked", arguments: ["pipe", "folder", "link"])
    func noFile(_ kind: String) throws {
        switch kind {
        case "pipe": mkfifo(file.text, 0o600)
        case "folder": mkdir(file.text, 0o700)
        default: symlink(try temporary.write("elsewhere", "text").text, file.text)
        }
        guard case .impossible = try PlaceLock.take(in: folder(), as: one) else { throw TestFailure("it was locked") }
        #expect(try PlaceLock.holder(in: folder()) == nil)
        if kind == "link" { #expect(try temporary.read("elsewhere") == "text") }
    }

    @Test(
        "A read-only folder cannot be locked", .enabled(if: geteuid() != 0, "root may write everywhere"))
    func readOnly() throws {
        chmod(temporary.path.text, 0o555)
        guard case .impossible(let fault) = try PlaceLock.take(in: folder(), as: one) else {
            throw TestFailure("it was locked")
        }
        #expect(fault.errno == EACCES)
    }
}
