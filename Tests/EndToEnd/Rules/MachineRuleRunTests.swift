import Glibc
import Platform
import TestSupport
import Testing

/// A private `/etc` for one program.
enum OwnEtc {
    static let isHere: Bool =
        geteuid() == 0 && (try? runProgram(command(rules: "/dev/null") + ["/bin/true"], in: "/"))?.status == 0

    /// The command prefix for a program that sees only users in `/etc`, plus the rules of that folder.
    static func command(rules: BytePath) -> [String] {
        let script = """
            exec 3< /etc/passwd 4< /etc/group; mount -t tmpfs tmpfs /etc; mkdir -p /etc/steward
            cat <&3 > /etc/passwd; cat <&4 > /etc/group; cp -r "$0" /etc/steward/rules.d; exec "$@" 3<&- 4<&-
            """
        return ["/usr/bin/unshare", "--mount", "/bin/sh", "-euc", script, rules.text]
    }
}

/// Rules in `/etc/steward/rules.d`, which every agent of the machine reads.
@Suite(
    "System rules alongside the user's own",
    .enabled(if: OwnEtc.isHere, "an /etc of its own needs root, and leave to mount"))
struct MachineRuleRunTests {
    @Test("A system rule for a place that only the system's agent has does not stop a user's agent")
    func foreignPlace() async throws {
        let steward = try AgentFixture()
        try steward.home.write(
            "machine/60-box.yaml",
            """
            - { rule: Box, in: box, do: [trash] }
            - { rule: All, in: drafts, do: [trash] }
            """)
        try steward.rule("70-own.yaml", "- { rule: Own, in: dropbox, do: [trash] }")
        let own = steward.home.path.appending(".config/steward/rules.d")
        steward.variables["STEWARD_RULES"] = "/etc/steward/rules.d:\(own)"
        try await steward.start(wrapper: OwnEtc.command(rules: steward.home.path.appending("machine")))
        #expect(
            try steward.log().contains(
                "/etc/steward/rules.d/60-box.yaml:1:20: warning: this agent ignores the rule `Box`: "
                    + "unknown place `box`"))
        try steward.drop("dropbox/a.txt", "a")
        try steward.drop("drafts/b.txt", "b")
        try await steward.until("both rules have been carried out") {
            try !steward.exists("dropbox/a.txt") && !steward.exists("drafts/b.txt")
        }
        try await steward.stop()
    }

    @Test(
        "A system file with errors does not stop a user's agent: it runs with the file's previous version, or without it"
    )
    func broken() async throws {
        let steward = try AgentFixture()
        try steward.home.write("machine/60-valid.yaml", "- { rule: All, in: drafts, do: [trash] }\n")
        try steward.home.write("machine/65-broken.yaml", "- { rule: Broken, in: drafts, do: [trsh] }\n")
        try steward.rule("70-own.yaml", "- { rule: Own, in: dropbox, do: [trash] }")
        let own = steward.home.path.appending(".config/steward/rules.d")
        steward.variables["STEWARD_RULES"] = "/etc/steward/rules.d:\(own)"
        let etc = OwnEtc.command(rules: steward.home.path.appending("machine"))
        let check = try steward.shell(etc + [AgentFixture.binary, "check"]).check().output
        let without = "warning: this agent ignores this file until the machine's administrator fixes it: "
        #expect(check.contains("/etc/steward/rules.d/65-broken.yaml:1:") && check.contains(without))
        try await steward.start(wrapper: etc)
        #expect(try steward.log().contains(without))
        // The agent's own `/etc`.
        let process = try #require(steward.processID)
        let file = "/proc/\(process)/root/etc/steward/rules.d/60-valid.yaml"
        try steward.shell(["/bin/sh", "-c", "echo '- rule: [' > \"$0\"", file]).check()
        try steward.run(["reload"]).check()
        #expect(try steward.log().contains("warning: this agent keeps using the earlier version of this file"))
        #expect(try steward.json(["status"])["rules"].number == 2)
        try steward.drop("dropbox/a.txt", "a")
        try steward.drop("drafts/b.txt", "b")
        try await steward.until("both rules have been carried out") {
            try !steward.exists("dropbox/a.txt") && !steward.exists("drafts/b.txt")
        }
        try await steward.stop()
    }
}
