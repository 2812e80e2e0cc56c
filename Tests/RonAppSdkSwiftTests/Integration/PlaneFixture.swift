import Foundation
import RonAppSdkSwift
import TestSupport
import ron_mock_plane

/// The answer of `GET /app/hello`.
struct PlaneGreeting: Codable, Sendable, Equatable {
    let message: String
}

/// Timeouts that never expire on any machine; tests of timeouts set their own.
func patientConfig(_ url: String) -> RonConfig {
    RonConfig(
        baseUrl: URL(string: url), overallTimeoutMs: 120_000, connectTimeoutMs: 120_000, readTimeoutMs: 120_000,
        writeTimeoutMs: 120_000, allowInsecureHttp: true)
}

/// Runs `body` with a mock plane and a client of it, both ended afterwards.
///
/// - Parameters:
///   - options: how the plane is started.
///   - configure: changes the client's configuration.
func withPlane<R>(
    _ options: MockPlaneOptions = MockPlaneOptions(), configure: (inout RonConfig) -> Void = { _ in },
    _ body: (MockPlane, RonClient) async throws -> R
) async throws -> R {
    try await MockPlane.running(options) { plane in
        var config = patientConfig(plane.url)
        configure(&config)
        return try await withClient(config) { try await body(plane, $0) }
    }
}

/// Runs `body` with a client, which is closed afterwards.
func withClient<R>(_ config: RonConfig, _ body: (RonClient) async throws -> R) async throws -> R {
    let client = try RonClient(config: config)
    do {
        let result = try await body(client)
        try await client.close()
        return result
    } catch {
        try await client.close()
        throw error
    }
}
