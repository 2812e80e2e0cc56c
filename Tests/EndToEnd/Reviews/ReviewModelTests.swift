import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// An agent whose rule has an advisor read drafts, with the model's server on loopback.
@Suite("A draft reviewed by an advisor, end to end", .timeLimit(.minutes(30)))
struct ReviewModelTests {
    private static let rule = """
        - rule: Review
          in: drafts
          on: [arrived, changed]
          settle: 100ms
          do:
            - review: { passes: [quick, advisors], advisors: [editor] }
        """
    private static let key = "sk-ant-test-0815"
    private static let draft = "We met in order to talk.\n\nThe rain fell on the old town.\n"
    private static let answer =
        #"{"suggestions":[{"quote":"old town","before":"","replacement":"old city","type":"improve","#
        + #""category":"style","priority":2,"confidence":0.9,"reason":"It is one."}]}"#

    private func steward(_ server: ScriptedServer) throws -> AgentFixture {
        let steward = try AgentFixture()
        steward.variables["TK_BASE_URL"] = server.url
        steward.variables["TK_API_KEY"] = Self.key
        steward.variables["OLLAMA_HOST"] = "http://127.0.0.1:1"
        try steward.rule("10-review.yaml", Self.rule)
        return steward
    }

    @Test("Its findings are in the sidecar, and answers are applied without another call")
    func reads() async throws {
        let server = try ScriptedServer(.message(Self.answer))
        let steward = try steward(server)
        try await steward.start()
        try steward.drop("drafts/essay.md", Self.draft)
        try await steward.until("the sidecar is there") { try steward.exists("drafts/essay.review.md") }
        try steward.wait()
        let sidecar = try steward.read("drafts/essay.review.md")
        #expect(sidecar.contains("2 findings.") && sidecar.contains("Read by editor (anthropic, claude-sonnet-4-6)."))
        try steward.drop("drafts/essay.review.md", sidecar.replacingOccurrences(of: "- [ ]", with: "- [x]"))
        try await steward.until("both are in the draft") {
            try steward.read("drafts/essay.md") == "We met to talk.\n\nThe rain fell on the old city.\n"
        }
        try steward.wait()
        #expect(server.requests.count == 1)
        // Nothing stored by the agent contains the key, and the month's usage includes the call.
        let found = try steward.shell(["grep", "-rlF", Self.key, steward.home.path.text]).output
        #expect(found == "", "\(found)")
        #expect(try FileStatus.of(steward.home.path.appending(".tk/usage.sqlite")) != nil)
        try await steward.stop()
    }

    @Test("A save while a model reads the draft cancels the call; the new text is read")
    func savedMeanwhile() async throws {
        let server = try ScriptedServer(.stream("event: ping\n", ending: .held), .message(Self.answer))
        let steward = try steward(server)
        try await steward.start()
        try steward.drop("drafts/essay.md", "An older text, in order to be read.\n")
        try await steward.until("the model is asked") { server.requests.count == 1 }
        try steward.drop("drafts/essay.md", Self.draft)
        try await steward.until("the sidecar is there") { try steward.exists("drafts/essay.review.md") }
        try steward.wait()
        #expect(try steward.read("drafts/essay.review.md").contains("2 findings."))
        #expect(server.requests.count == 2)
        try await steward.until("the first call is cut off") { server.abandoned == 1 }
        #expect(server.requests.last?.body.contains("The rain fell on the old town.") == true)
        try await steward.stop()
    }

    @Test("`doctor` says whether there is a key, and rejects one that others may read, without showing it")
    func doctor() throws {
        let steward = try AgentFixture()
        let without = try steward.run(["doctor"]).check().output
        #expect(without.contains("ok   advisors: 11 can be asked"))
        #expect(without.contains("ok   models: anthropic, without a key"))
        let file = try steward.home.write(".tk/secrets/anthropic", Self.key + "\n")
        chmod(file.parent.text, 0o700)
        chmod(file.text, 0o644)
        let open = try steward.run(["doctor"])
        #expect(open.status == 2 && open.output.contains("!    models: ") && !open.output.contains(Self.key))
        chmod(file.text, 0o600)
        #expect(try steward.run(["doctor"]).check().output.contains("ok   models: anthropic, with a key from "))
    }

    @Test("Killed after receiving the answer, it does not ask again")
    func killed() async throws {
        let server = try ScriptedServer(.message(Self.answer))
        let steward = try steward(server)
        steward.variables["STEWARD_FAULT"] = "answer kept:1"
        try await steward.start()
        let process = try #require(steward.processID)
        try steward.drop("drafts/essay.md", Self.draft)
        try await steward.until("it is dead") {
            // A process that has ended has no memory any more.
            let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            return status?.contains("VmSize") != true
        }
        #expect(server.requests.count == 1)
        #expect(try !steward.exists("drafts/essay.review.md"))
        try await steward.kill9()
        steward.variables["STEWARD_FAULT"] = nil
        try await steward.start()
        try await steward.until("the sidecar is there") { try steward.exists("drafts/essay.review.md") }
        try steward.wait()
        #expect(try steward.read("drafts/essay.review.md").contains("2 findings."))
        #expect(server.requests.count == 1)
        #expect(try steward.leftovers().isEmpty)
        try await steward.stop()
    }

    @Test("With a rejected key the quick pass still runs, sidecar and log say why, and the user can ask again")
    func wrongKey() async throws {
        let server = try ScriptedServer(.complaint(401, "authentication_error"), .message(Self.answer))
        let steward = try steward(server)
        try await steward.start()
        try steward.drop("drafts/essay.md", Self.draft)
        try await steward.until("the sidecar is there") { try steward.exists("drafts/essay.review.md") }
        try steward.wait()
        #expect(try steward.read("drafts/essay.review.md").contains("> No advisor has read this text: anthropic"))
        #expect(try steward.run(["log"]).check().output.contains("No advisor has read this text"))
        #expect(server.requests.count == 1)
        try steward.run(["reprocess", steward.path("drafts/essay.md").text]).check()
        try await steward.until("it is read") { try steward.read("drafts/essay.review.md").contains("2 findings.") }
        #expect(server.requests.count == 2)
        try await steward.stop()
    }

    @Test(
        "Another user's model on this machine gets no draft until that is allowed; sidecar and log say whose",
        .enabled(if: geteuid() == 0, "only root can be two users"))
    func foreignModel() async throws {
        let server = try ModelOfUser(user: ModelOfUser.nobody)
        let steward = try AgentFixture()
        steward.variables["OLLAMA_HOST"] = server.url
        try steward.rule("10-review.yaml", Self.rule)
        try await steward.start()
        try steward.drop("drafts/essay.md", Self.draft)
        try await steward.until("the sidecar is there") { try steward.exists("drafts/essay.review.md") }
        try steward.wait()
        let line =
            "anthropic has no key, and ollama: the server at 127.0.0.1:\(server.port) is run by nobody (uid 65534)"
        let sidecar = try steward.read("drafts/essay.review.md")
        #expect(sidecar.contains("> No model has read this text: \(line)"), "\(sidecar)")
        #expect(sidecar.contains("`tk config set local.allow yes`") && sidecar.contains("1 finding."))
        #expect(try steward.run(["log"]).check().output.contains("is run by nobody"))
        #expect(try server.heard == "")
        try steward.home.write(".tk/config.json", #"{"local.allow": "yes"}"#)
        try steward.run(["reprocess", steward.path("drafts/essay.md").text]).check()
        try await steward.until("it is read") {
            try steward.read("drafts/essay.review.md").contains("Read by editor (ollama, llama3.2).")
        }
        #expect(try server.heard.contains("The rain fell on the old town."))
        try await steward.stop()
    }
}
