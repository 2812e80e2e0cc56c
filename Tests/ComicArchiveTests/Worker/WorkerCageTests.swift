import ComicArchive
import ComicTestSupport
import Platform
import Testing

/// The worker breaks one rule of its cage at a time, and the kernel ends it with SIGSYS (31).
@Suite("The worker's cage")
struct WorkerCageTests {
    @Test(
        "The process is killed for each of these",
        arguments: ["open", "create", "socket", "fork", "exec", "mmap", "write", "kill"])
    func isKilledFor(_ what: String) async throws {
        #expect(try await builtWorker().probe(what) == "killed 31")
    }

    @Test("The worker runs if it breaks no rule") func workerLivesBreaks() async throws {
        #expect(try await builtWorker().probe("none") == "left 0")
    }
}
