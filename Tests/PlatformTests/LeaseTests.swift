import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Leases: who has a file open")
struct LeaseTests {
    private let folder: TemporaryFolder
    private let path: BytePath

    init() async throws {
        Lease.ignoreBreakSignal()
        folder = try TemporaryFolder()
        path = try folder.write("note.md", "text")
        try await letGo(path)
    }

    @Test("A file that nobody has open has no writer and can be leased")
    func free() throws {
        #expect(Lease.probeWriters(try Descriptor(path)) == .granted)
        let file = try Descriptor(path, O_RDWR)
        #expect(Lease.acquireExclusive(file) == .granted)
        Lease.release(file)
    }

    @Test("A reader in another process is not a writer, but the file cannot be leased")
    func reader() throws {
        let holder = try FileHolder(path, .reading)
        #expect(Lease.probeWriters(try Descriptor(path)) == .granted)
        #expect(Lease.acquireExclusive(try Descriptor(path, O_RDWR)) == .busy)
        try holder.release()
        #expect(Lease.acquireExclusive(try Descriptor(path, O_RDWR)) == .granted)
    }

    @Test("A writer in another process is seen until it closes the file")
    func writer() async throws {
        let holder = try FileHolder(path, .appending)
        #expect(Lease.probeWriters(try Descriptor(path)) == .busy)
        #expect(Lease.acquireExclusive(try Descriptor(path, O_RDWR)) == .busy)
        try holder.release()
        try await letGo(path)
        #expect(Lease.probeWriters(try Descriptor(path)) == .granted)
    }

    @Test("A writable mapping counts as a writer even if its descriptor is closed")
    func mapping() async throws {
        var file: Descriptor? = try Descriptor(path, O_RDWR)
        let raw = try #require(file).raw
        let memory = mmap(nil, 4, PROT_READ | PROT_WRITE, MAP_SHARED, raw, 0)
        file = nil
        #expect(Lease.probeWriters(try Descriptor(path)) == .busy)
        munmap(memory, 4)
        try await letGo(path)
        #expect(Lease.probeWriters(try Descriptor(path)) == .granted)
    }

    @Test("While the lease is held, a non-blocking open is refused")
    func exclusion() throws {
        let file = try Descriptor(path, O_RDWR)
        #expect(Lease.acquireExclusive(file) == .granted)
        #expect(Lease.isWhole(file))
        let fault = #expect(throws: Fault.self) { try Descriptor(path, O_WRONLY) }
        #expect(fault?.errno == EWOULDBLOCK)
        #expect(fault?.kind == .transient)
        #expect(!Lease.isWhole(file), "somebody asked for it")
        Lease.release(file)
        #expect(!Lease.isWhole(file))
        #expect(throws: Never.self) { try Descriptor(path, O_WRONLY) }
    }

    @Test("A read lease keeps writers out, and lets readers in")
    func shared() throws {
        let file = try Descriptor(path)
        #expect(Lease.acquireShared(file) == .granted)
        #expect(throws: Never.self) { try Descriptor(path) }
        #expect(throws: Fault.self) { try Descriptor(path, O_WRONLY) }
        Lease.release(file)
        #expect(throws: Never.self) { try Descriptor(path, O_WRONLY) }
    }

    @Test("The kernel reports how long it lets others wait")
    func timeout() { #expect(Lease.breakTime() > .zero) }

    @Test("A folder cannot be leased")
    func unsupported() throws {
        #expect(Lease.acquireExclusive(try Descriptor(folder.path, O_RDONLY | O_DIRECTORY)) == .unsupported)
    }

    @Test("The process that has a file open is named")
    func openers() throws {
        let holder = try FileHolder(path, .reading)
        #expect(Openers.processes(holding: path).map(\.id).contains(holder.id))
        #expect(Openers.describe(path).contains("(process \(holder.id))"))
        try holder.release()
        #expect(!Openers.processes(holding: path).map(\.id).contains(holder.id))
        #expect(Openers.describe(folder.path.appending("missing")) == "another process")
    }
}
