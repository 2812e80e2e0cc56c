import ComicVault
import Logging
import Platform
import TestSupport
import Testing

@testable import AgentKit

@Suite("Requests about vaults")
struct VaultRequestTests {
    @Test("An agent of another version says that it does not know one, before it gets a password")
    func unknown() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path.appending("control.sock")
        let server = ControlServer(path: path, log: Logger(label: "test"))
        let serving = Task { try await server.run(Ask.answered("here")) }
        try await waitUntil("it listens") { try ControlClient.ask(Ask(), at: path) != nil }
        let password = try Credential.password(SecretBytes(Array("korrekte Pferde".utf8)))
        let fault = #expect(throws: Fault.self) {
            _ = try VaultClient.ask(UnlockVault(dropsTornTail: false), of: "main", [password], at: path)
        }
        #expect(fault?.kind == .usage)
        #expect(fault?.message.contains("unknown request; the agent knows ask. If a newer `steward`") == true)
        server.stop()
        try await serving.value
    }
}
