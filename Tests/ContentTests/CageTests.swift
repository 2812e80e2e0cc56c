import FileActions
import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// The worker breaks one rule of its cage at a time, and the kernel ends it with SIGSYS (31).
@Suite("The content worker's cage") struct CageTests {
    @Test(
        "The process is killed for each of these",
        arguments: ["open", "create", "socket", "fork", "exec", "mmap", "write", "kill"])
    func isKilledFor(_ what: String) async throws {
        #expect(try await probed(what) == "killed 31")
    }

    @Test("It runs if it breaks no rule") func lives() async throws {
        #expect(try await probed("none") == "left 0")
    }

    @Test("Results found earlier are used, whatever replaces the file") func held() async throws {
        let folder = try TemporaryFolder("held")
        let program = folder.path.appending("steward-worker")
        // By other processes: one that starts in between would keep the files that this one writes busy.
        try runProgram(["/bin/cp", #require(Built.program("steward-worker")).text, program.text]).check()
        let other = folder.path.appending("other")
        let script = "printf '#!/bin/sh\\nexit 3\\n' > \"$0\" && chmod 755 \"$0\""
        try runProgram(["/bin/sh", "-c", script, other.text]).check()
        let said = try await BlockingPool("held").run {
            let worker = try ContentWorker(program: program)
            try #require(rename(other.text, program.text) == 0)
            let file = try Descriptor(folder.write("file", "anything"))
            return [try worker.probe("none", file), try ContentWorker(program: program).probe("none", file)]
        }
        #expect(said == ["left 0", "left 3"])
    }

    private func probed(_ what: String) async throws -> String {
        let folder = try TemporaryFolder("cage")
        return try await BlockingPool("probe").run {
            try builtContentWorker().probe(what, Descriptor(folder.write("file", "anything")))
        }
    }
}
