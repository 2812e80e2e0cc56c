import ContentFacts
import OwnFiles
import Platform
import TestSupport
import Testing

/// The worker breaks one rule of its cage at a time, and the kernel ends it with SIGSYS (31).
@Suite("The cage of the process that reads contents") struct CageTests {
    @Test(
        "The process is killed for each of these",
        arguments: ["open", "create", "socket", "fork", "exec", "mmap", "write", "kill"])
    func isKilledFor(_ what: String) async throws {
        #expect(try await probed(what) == "killed 31")
    }

    @Test("It lives where it breaks no rule") func lives() async throws {
        #expect(try await probed("none") == "left 0")
    }

    private func probed(_ what: String) async throws -> String {
        let folder = try TemporaryFolder("cage")
        return try await BlockingLane("probe").run {
            try builtContentWorker().probe(what, Descriptor(folder.write("file", "anything")))
        }
    }
}
