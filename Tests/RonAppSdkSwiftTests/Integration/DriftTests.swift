import Foundation
import NIOHTTP1
import Platform
import RonAppSdkSwift
import TestSupport
import Testing
import ron_mock_plane

/// A canonical answer from `Tests/Fixtures/ron`.
struct DriftFixture: Sendable, CustomTestStringConvertible {
    let name: String
    let path: String
    let status: Int
    /// The body, as JSON.
    let body: Data
    /// How a client must read it, in the schema's names; nil if it is not a problem.
    let problem: Data?

    var testDescription: String { name }

    /// All of them.
    static let all: [DriftFixture] = {
        let folder = Checkout.root.appending("Tests/Fixtures/ron").text
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
        return names.filter { $0.hasSuffix(".json") && $0 != "calls.json" }.compactMap { try? DriftFixture(folder, $0) }
    }()

    private init(_ folder: String, _ name: String) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
        guard let json = try JSONSerialization.jsonObject(with: bytes) as? [String: Any],
            let path = json["path"] as? String, let status = json["status"] as? Int, let body = json["body"]
        else { throw TestFailure("\(name) is no fixture") }
        self.name = name
        self.path = path
        self.status = status
        self.body = try JSONSerialization.data(withJSONObject: body)
        problem = try json["problem"].map { try JSONSerialization.data(withJSONObject: $0) }
    }
}

/// The key sets and types of a JSON value; for a list's elements, the union of theirs.
func shape(_ value: JSONValue) -> String {
    switch value {
    case .object(let members):
        "{" + members.sorted { $0.key < $1.key }.map { "\($0.key): \(shape($0.value))" }.joined(separator: ", ") + "}"
    case .array(let elements): "[" + Set(elements.map(shape)).sorted().joined(separator: " | ") + "]"
    case .string: "string"
    case .bool: "bool"
    case .integer, .unsigned, .number: "number"
    case .null: "null"
    }
}

@Suite("Drift from the canonical shapes")
struct DriftTests {
    @Test("The fixtures exist")
    func fixtures() { #expect(DriftFixture.all.count >= 14) }

    @Test("The plane's responses have the canonical keys and types", arguments: DriftFixture.all)
    func shapes(fixture: DriftFixture) async throws {
        try await withPlane { plane, _ in
            let answer = try await PlainHTTP.ask(
                .GET, plane.url + "/app" + fixture.path, headers: ["x-correlation-id": "corr-1"])
            #expect(answer.status == fixture.status)
            let decoder = JSONDecoder()
            let told = try decoder.decode(JSONValue.self, from: answer.body)
            let canonical = try decoder.decode(JSONValue.self, from: fixture.body)
            #expect(shape(told) == shape(canonical))
        }
    }

    @Test(
        "A problem in any of its forms is read into the same fields, and written in the canonical form",
        arguments: DriftFixture.all.filter { $0.problem != nil })
    func problems(fixture: DriftFixture) async throws {
        let parts = fixture.path.split(separator: "?")
        try await withPlane(configure: { $0.requestIdFactory = { "corr-1" } }) { _, client in
            let answer: AppResponse<NoContent> = await client.get(String(parts[0]))
            let problem = try #require(answer.problem)
            let wanted = try #require(fixture.problem)
            let expected = try JSONDecoder().decode([String: JSONValue].self, from: wanted)
            let encoded = try JSONEncoder().encode(problem)
            let written = try JSONDecoder().decode([String: JSONValue].self, from: encoded)
            for (name, value) in expected { #expect(written[name] == value, "\(name)") }
            let canonical: Set = [
                "code", "message", "kind", "status", "correlation_id", "retryable", "retry_after_ms", "reason",
                "details",
            ]
            #expect(Set(written.keys).subtracting(canonical).isEmpty)
            // A round trip keeps all of it.
            let read = try JSONDecoder().decode(RonProblem.self, from: encoded)
            #expect(read == problem)
        }
    }
}
