import ComicTestSupport
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Work on hidden files that was interrupted by a stop continues where it was, whatever the next start finds.
@Suite("Hidden files at the agent's start")
struct HiddenNameStartTests {
    private static let password = "korrekte Pferde-Batterie"
    private static let rule = """
        - rule: Seal comics
          in: comics
          settle: 200ms
          do:
            - append-block: { heading: Comics, anchor: comic, text: "<a comic>" }
            - import-comic: { vault: main }
        """

    private func jobs(_ steward: AgentFixture) throws -> Set<String> { try steward.json(["status"])["jobs"].keys }

    @Test(
        "Without a rule in force that hides them, they do not count as gone, and no step is done twice",
        arguments: [true, false])
    func withoutTheirRule(isBroken: Bool) async throws {
        let steward = try AgentFixture.withVault(password: Self.password, rule: Self.rule)
        let (vault, aside) = (steward.path("vault"), steward.path("aside"))
        guard rename(vault.text, aside.text) == 0 else { throw Fault.system("rename", vault) }
        try await steward.start()
        let comic = try packed([Packed(name: "1.png", bytes: picture(1))])
        try steward.moveIn("comics/deep/Coelacanthus.cbz", comic)
        var job: String?
        // Parked, or about to be retried.
        try await steward.until("the comic waits for its vault") {
            let status = try steward.status()
            job = (status.parked + status.waiting).first?.job
            return job != nil
        }
        try await steward.kill9()
        guard rename(aside.text, vault.text) == 0 else { throw Fault.system("rename", aside) }
        let other: BytePath = ".config/steward/rules.d/20-other.yaml"
        if isBroken {
            try steward.home.write(other, "- rule: [")
        } else {
            try steward.rule("- { rule: Other, in: dropbox, do: [trash] }")
        }
        try await steward.start()
        _ = try steward.run(["retry", try #require(job)])
        if isBroken {
            // Steps are unknown until the rules are.
            #expect(try jobs(steward) == ["ready"])
        } else {
            try await steward.until("it is parked for want of its rule") {
                try steward.status().parked.contains { $0.problem.contains("is in no rule file any more") }
            }
        }
        #expect(try steward.numberOfDrops() == 0)
        try await steward.stop()
        let state = steward.home.path.appending(".local/state/steward")
        let found = try steward.shell(["/bin/grep", "-rl", "Coelacanthus", state.text])
        #expect(!isBroken || found.status == 1, "\(found)")
        if isBroken { try Durable.remove(steward.home.path.appending(other)) } else { try steward.rule(Self.rule) }
        try await steward.start()
        if !isBroken { try steward.run(["retry", try #require(job)]).check() }
        try steward.wait()
        #expect(try jobs(steward) == ["done"])
        #expect(try steward.notes().occurrences(of: "<a comic>") == 1)
        #expect(try steward.numberOfDrops() == 1)
        try await steward.stop()
    }

    @Test(
        "In an unreadable folder they are waited for, and processed or found gone once it is readable",
        .enabled(if: geteuid() != 0 || TestUser.areBothHere, Comment(rawValue: TestUser.comment)),
        arguments: [true, false])
    func closed(isThere: Bool) async throws {
        let isRoot = geteuid() == 0
        let steward = try AgentFixture(as: isRoot ? .victim : nil)
        func give() throws {
            guard isRoot else { return }
            let user = "\(TestUser.victim.id)"
            try steward.shell(["/bin/chown", "-R", "\(user):\(user)", steward.home.path.text]).check()
        }
        try steward.rule(Self.rule)
        try steward.vault(["init"], password: Self.password).check()
        try give()
        try await steward.start()
        try steward.run(["pause"]).check()
        try steward.moveIn("comics/deep/Heron.cbz", try packed([Packed(name: "1.png", bytes: picture(1))]))
        try await steward.until("its job is planned") { try steward.json(["status"])["jobs"]["ready"].number == 1 }
        let known = try #require(try steward.json(["status"])["files"].number)
        try await steward.kill9()
        if !isThere { try Durable.remove(steward.path("comics/deep/Heron.cbz")) }
        try give()
        chmod(steward.path("comics/deep").text, 0)
        try await steward.start()
        try steward.run(["resume"]).check()
        try await steward.until("the comic waits for its name") {
            guard try jobs(steward).isDisjoint(with: ["superseded", "done"]) else {
                throw TestFailure("it was taken for gone: \(try jobs(steward))")
            }
            return try steward.status().waiting.contains { $0.problem.contains("the names of hidden files in comics") }
        }
        // Everything that the scan at the start has found is judged before the folder is opened.
        try steward.wait()
        chmod(steward.path("comics/deep").text, 0o755)
        let end = isThere ? "done" : "superseded"
        try await steward.until("it is dealt with") { try jobs(steward) == [end] }
        try steward.wait()
        #expect(try jobs(steward) == [end])
        #expect(try steward.numberOfDrops() == (isThere ? 1 : 0))
        #expect(try steward.notes().occurrences(of: "<a comic>") == 1)
        #expect(try steward.json(["status"])["files"].number == known, "the comic is gone, and the note has come")
        try await steward.stop()
    }
}
