import ComicTestSupport
import ComicVault
import Foundation
import Platform
import TestSupport
import Testing

/// Messages of the agent and its commands about vaults with problems.
@Suite("Vault problems")
struct VaultProblemTests {
    @Test("An older copy found by the agent is in every status, and in the doctor's findings, until it is accepted")
    func rolledBack() async throws {
        let scene = try VaultScene()
        try scene.steward.shell(["cp", "-a", scene.path.text, scene.path.text + ".old"]).check()
        try scene.deposit("A.cbz")
        try scene.vault("quarantine", "take-in").check()
        try scene.steward.shell(["rm", "-r", scene.path.text]).check()
        try scene.steward.shell(["mv", scene.path.text + ".old", scene.path.text]).check()
        try await scene.steward.start()
        try scene.vault("unlock").check()
        let words = "the vault differs from its last state on this host"
        #expect(try scene.answer("status").items[0]["problems"].items.map(\.text).contains { $0.hasPrefix(words) })
        #expect(try scene.vault("status").check().output.contains("! " + words))
        #expect(try scene.steward.run(["status"]).output.contains("vault main: unlocked; see `steward vault status`"))
        #expect(try scene.steward.run(["doctor"]).output.contains(words))
        try scene.vault("accept-rollback", "--yes").check()
        #expect(try scene.answer("status").items[0]["problems"].items.isEmpty)
        #expect(try !scene.steward.run(["doctor"]).output.contains(words))
    }

    @Test("A vault added since the agent started hides no other, and its commands open it themselves")
    func added() async throws {
        let scene = try VaultScene()
        try await scene.steward.start()
        let configuration: BytePath = ".config/steward/steward.yaml"
        let text = try scene.steward.home.read(configuration)
        let second = scene.steward.home.path.appending("second").text
        try scene.steward.home.write(
            configuration, text.replacingOccurrences(of: "vaults:\n", with: "vaults:\n  second: { path: \(second) }\n"))
        let before = try scene.vault("status").check().output
        #expect(before.contains("main  "))
        #expect(before.contains("`steward vault init --vault second` makes it"), "\(before)")
        try scene.vault("init", "--vault", "second").check()
        let after = try scene.vault("status").check().output
        #expect(after.contains("main  ") && after.contains("! the agent does not know the vault second"), "\(after)")
        #expect(try scene.vault("list", "--vault", "second").check().output.contains("the vault second is empty"))
        let unlock = try scene.vault("unlock", "--vault", "second")
        #expect(unlock.status == 1 && unlock.errors.contains("restart it"), "\(unlock.errors)")
        #expect(try scene.vault("lock", "--all").check().output.contains("the vault second is locked already"))
    }
}
