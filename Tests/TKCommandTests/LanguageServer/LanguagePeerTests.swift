import Foundation
import Platform
import TestSupport
import Testing

/// `tk lsp` with a client that is not ours.
@Suite("Language server: another client", .timeLimit(.minutes(30)))
struct LanguagePeerTests {
    @Test(
        "pytest-lsp, with what Neovim, Emacs and Visual Studio Code can do, gets findings and makes changes",
        .enabled("Python and PyPI's pytest-lsp are wanted (see Tests/Peers/lsp-peers.sh)") {
            await PeerClient.python.value != nil
        })
    func session() async throws {
        let python = try #require(await PeerClient.python.value)
        let home = try TemporaryFolder("session")
        var environment = ProcessInfo.processInfo.environment
        environment["TK"] = CommandFixture.binary
        environment["TK_SESSION_HOME"] = home.path.text
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        let run = try home.run(
            [
                python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", home.path.text,
                PeerClient.peers + "/lsp_session.py",
            ], environment: environment)
        #expect(run.status == 0, "\(run.output.suffix(4_000))\(run.errors.suffix(1_000))")
    }
}

/// Runs `lsp_session.py`.
private enum PeerClient {
    static let peers = Checkout.root.appending("Tests/Peers").text

    /// The environment's Python; nil if there is none.
    static let python = Task<String?, Never> {
        guard ProcessInfo.processInfo.environment["STEWARD_TEST_PEERS"] != "0" else { return nil }
        do {
            // `.build/<triple>/debug/tk`: the environment survives a clean build of one configuration.
            let program = BytePath(CommandFixture.binary)
            let build = (program.real ?? program).parent.parent.parent
            let made = try await runProgramAside(
                ["/bin/sh", peers + "/lsp-peers.sh", build.appending("lsp-peers").text])
            guard made.status == 0, let folder = made.output.split(separator: "\n").last else {
                print("tests that want lsp-peers.sh are skipped: \(made.errors)")
                return nil
            }
            return folder + "/bin/python"
        } catch {
            print("tests that want lsp-peers.sh are skipped: \(error)")
            return nil
        }
    }
}
