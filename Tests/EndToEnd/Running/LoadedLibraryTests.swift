import OwnFiles
import Platform
import TestSupport
import Testing

/// The libraries each program loads before it does anything: each costs time and memory at every start.
@Suite("Libraries loaded by the programs")
struct LoadedLibraryTests {
    /// The output of the dynamic linker, which then exits instead of starting the program.
    private func libraries(of name: String) throws -> String {
        let home = try TemporaryFolder()
        let program = BytePath(AgentFixture.binary).parent.appending(name)
        return try home.run([program.text], environment: ["LD_TRACE_LOADED_OBJECTS": "1"]).check().output
    }

    @Test("The agent loads no archive parser; its worker does")
    func archives() throws {
        #expect(try libraries(of: "steward-worker").contains("libarchive.so"))
        #expect(try !libraries(of: "steward").contains("libarchive.so"))
    }

    @Test("The agent loads no parser of documents, pictures or audio; the content worker does")
    func contents() throws {
        let (agent, worker) = (try libraries(of: "steward"), try libraries(of: "steward-worker"))
        for name in ["libxml2.so", "libtag.so", "libexttextcat", "libarchive.so", "libpoppler"] {
            #expect(!agent.contains(name), "\(name)")
        }
        for name in ["libxml2.so", "libtag.so", "libexttextcat", "libarchive.so"] {
            #expect(worker.contains(name), "\(name)")
        }
        for name in ["libsqlite3.so", "libFoundation", "lib_FoundationICU"] {
            #expect(!worker.contains(name), "\(name)")
        }
    }

    @Test("The worker loads neither Foundation nor a database; the agent does")
    func worker() throws {
        let (agent, worker) = (try libraries(of: "steward"), try libraries(of: "steward-worker"))
        #expect(agent.contains("libsqlite3.so"))
        for name in ["libsqlite3.so", "libFoundation", "lib_FoundationICU"] {
            #expect(!worker.contains(name), "\(name)")
        }
    }
}
