import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Locks on open files")
struct FileLockTests {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder("locks") }

    @Test("A lock excludes others until it is released", arguments: [FileLock.Kind.record, .whole])
    func exclusion(_ kind: FileLock.Kind) throws {
        let path = try temporary.write("file", "")
        let (one, other) = (try Descriptor(path, O_RDWR), try Descriptor(path, O_RDWR))
        #expect(try FileLock.acquire(.exclusive, on: one, by: kind))
        #expect(try !FileLock.acquire(.shared, on: other, by: kind))
        #expect(try !FileLock.acquireSoon(.exclusive, on: other, by: kind, within: 0))
        try FileLock.release(one, by: kind)
        #expect(try FileLock.acquireSoon(.shared, on: other, by: kind, within: 0))
        #expect(try FileLock.acquire(.shared, on: one, by: kind))
        #expect(try !FileLock.acquire(.exclusive, on: one, by: kind))
    }

    @Test("A folder is locked by flock(2) only")
    func folder() throws {
        let folder = try Descriptor(temporary.path, O_RDONLY | O_DIRECTORY)
        #expect(try FileLock.acquire(.exclusive, on: folder, by: .whole))
        let fault = #expect(throws: Fault.self) { try FileLock.acquire(.exclusive, on: folder) }
        #expect(fault?.path == temporary.path)
    }

    @Test("A waiter gets the lock when it is released")
    func waiting() async throws {
        let path = try temporary.write("file", "")
        let (one, other) = (try Descriptor(path, O_RDWR), try Descriptor(path, O_RDWR))
        #expect(try FileLock.acquire(.exclusive, on: one, by: .whole))
        async let waits: Void = BlockingPool("test").run { try FileLock.wait(on: other) }
        try FileLock.release(one, by: .whole)
        try await waits
        #expect(try !FileLock.acquire(.exclusive, on: one, by: .whole))
    }
}
