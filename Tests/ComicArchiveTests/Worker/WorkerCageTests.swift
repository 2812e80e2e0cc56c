import ComicArchive
import ComicTestSupport
import Platform
import Testing

/// The worker breaks one rule of its cage at a time, and the kernel ends it with SIGSYS (31).
struct WorkerCageTests {
    @Test(arguments: ["open", "create", "socket", "fork", "exec", "mmap", "write", "kill"])
    func isKilledFor(_ what: String) async throws {
        #expect(try await builtWorker().probe(what) == "killed 31")
    }

    @Test func livesWhereItBreaksNoRule() async throws {
        #expect(try await builtWorker().probe("none") == "left 0")
    }
}
