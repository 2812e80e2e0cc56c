import Foundation
import Platform
import TestSupport
import Testing
import ron_mock_plane

@Suite("The program ron-hello")
struct RonHelloTests {
    /// Runs it with only these variables.
    private func hello(_ variables: [String: String], _ arguments: [String] = []) async throws -> ProgramResult {
        let program = try #require(Built.program("ron-hello"))
        return try await runProgramAside(
            ["/usr/bin/env", "-i"] + variables.map { "\($0)=\($1)" } + [program.text] + arguments)
    }

    @Test("Prints what the app plane answers")
    func succeeds() async throws {
        try await MockPlane.running { plane in
            let run = try await hello(["RON_SDK_GATEWAY_ADDR": plane.url])
            #expect(run.status == 0 && run.errors.isEmpty)
            #expect(run.output == "Server says: Hello from the app plane\n")
        }
    }

    @Test("Fails when the call does, with its code")
    func fails() async throws {
        var options = MockPlaneOptions()
        options.token = "abc"
        try await MockPlane.running(options) { plane in
            let run = try await hello(["RON_SDK_GATEWAY_ADDR": plane.url])
            #expect(run.status == 1 && run.output.isEmpty)
            #expect(run.errors.contains("transport_error") && run.errors.contains("status 401"))
        }
        let nobody = try await hello(["RON_SDK_GATEWAY_ADDR": "http://127.0.0.1:1"])
        #expect(nobody.status == 1 && nobody.errors.contains("local_network_failure"))
    }

    @Test("Reports invalid settings, and takes no arguments")
    func settings() async throws {
        let none = try await hello([:])
        #expect(none.status == 1 && none.errors.contains("RON_SDK_GATEWAY_ADDR"))
        let insecure = try await hello(["RON_SDK_GATEWAY_ADDR": "http://node.example"])
        #expect(insecure.status == 1 && insecure.errors.contains("https://"))
        let malformed = try await hello([
            "RON_SDK_GATEWAY_ADDR": "https://node.example", "RON_SDK_OVERALL_TIMEOUT_MS": "soon",
        ])
        #expect(malformed.status == 1 && malformed.errors.contains("RON_SDK_OVERALL_TIMEOUT_MS"))
        let extra = try await hello(["RON_SDK_GATEWAY_ADDR": "https://node.example"], ["--help"])
        #expect(extra.status == 64 && extra.errors.contains("no arguments"))
    }
}
