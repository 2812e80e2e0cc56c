import ComicTestSupport
import ComicVault
import Foundation
import Platform
import TestSupport
import Testing

/// Vaults read by a second implementation, written from `docs/design/vault-format.md` alone (`Tests/Peers`). Its
/// library is installed once from PyPI into the build folder; if that is not possible, these tests are skipped.
@Suite(
    "The vault format, read by an independent program",
    .enabled("Python and PyPI's cryptography are wanted (see Tests/Peers/vault-peers.sh)") {
        await VaultReader.python.value != nil
    })
struct VaultFormatTests {
    @Test("It opens every test vector, and rejects each damaged one for the documented reason")
    func vectors() async throws {
        let run = try await VaultReader.run([
            "vectors", Checkout.root.appending("Tests/Fixtures/vault").text,
        ])
        #expect(run.status == 0 && run.output.contains("119 of 119 vectors"), "\(run.output)\(run.errors)")
    }

    @Test("It reads what this program has sealed: comics under their names, to the last byte, and a deposit")
    func vault() async throws {
        let scene = try VaultScene()
        let saga = try scene.deposit("Saga.cbz", pages: 3)
        let heron = try scene.deposit("Heron.cbz", first: 7)
        try scene.vault("quarantine", "take-in").check()
        try scene.vault("rename", "Heron.cbz", "Ünïcode.cbz").check()
        try scene.vault("bookmark", "Saga.cbz", "2").check()
        let waiting = try scene.deposit("Waits.cbz", first: 9)
        let run = try await VaultReader.run(["open", scene.path.text], input: VaultScene.password)
        let read = try Answer(parsing: run.output)
        func told(_ list: String) -> [String: String] {
            Dictionary(read[list].items.map { ($0["name"].text, $0["sha256"].text) }) { $1 }
        }
        let hashes = [saga, heron, waiting].map { ContentHash(of: $0.archive).description }
        #expect(told("comics") == ["Saga.cbz": hashes[0], "Ünïcode.cbz": hashes[1]], "\(run.output)\(run.errors)")
        #expect(told("deposits") == ["Waits.cbz": hashes[2]])
        #expect(read["comics"].items.first?["pages"].items.map(\.text) == ["p1.png", "p2.png", "p3.png"])
        let wrong = try await VaultReader.run(["open", scene.path.text], input: VaultScene.wrong)
        #expect(wrong.status != 0 && wrong.errors.contains("incorrect password"))
    }
}

/// Runs `vault_reader.py`.
private enum VaultReader {
    private static let peers = Checkout.root.appending("Tests/Peers").text

    /// The environment's Python; nil if there is none.
    static let python = Task<String?, Never> {
        guard ProcessInfo.processInfo.environment["STEWARD_TEST_PEERS"] != "0" else { return nil }
        do {
            // `.build/<triple>/debug/steward`: the environment survives a clean build of one configuration.
            let program = BytePath(AgentFixture.binary)
            let build = (program.real ?? program).parent.parent.parent
            let made = try execute(["/bin/sh", peers + "/vault-peers.sh", build.text + "/vault-peers"])
            guard made.status == 0, let folder = made.output.split(separator: "\n").last else {
                print("tests that want vault-peers.sh are skipped: \(made.errors)")
                return nil
            }
            return folder + "/bin/python"
        } catch {
            print("tests that want vault-peers.sh are skipped: \(error)")
            return nil
        }
    }

    static func run(_ arguments: [String], input: String = "") async throws -> AgentFixture.Result {
        guard let python = await python.value else { throw TestFailure("there is no Python") }
        return try execute([python, peers + "/vault_reader.py"] + arguments, input: input + "\n")
    }

    private static func execute(_ command: [String], input: String = "") throws -> AgentFixture.Result {
        try TemporaryFolder("vault-reader").run(
            command, environment: ProcessInfo.processInfo.environment, input: input)
    }
}
