import Foundation
import Platform
import RonAppSdkSwift
import TestSupport
import Testing
import ron_mock_plane

/// A call of `Tests/Fixtures/ron/calls.json`, which both clients make.
struct PeerCall: Decodable, Sendable {
    let name: String
    let method: String
    let path: String
    let query: [String: String]?
    let headers: [String: String]?
    let body: JSONValue?
    let token: String?
    let passport: String?
    let facet: String?
    let idempotency_key: String?

    static let file = Checkout.root.appending("Tests/Fixtures/ron/calls.json")

    static func all() throws -> [PeerCall] {
        try JSONDecoder().decode([PeerCall].self, from: Data(contentsOf: URL(fileURLWithPath: file.text)))
    }

    /// With a client created for this call.
    func make(_ url: String, number: Int) async throws -> AppResponse<JSONValue> {
        var config = patientConfig(url)
        config.authToken = token
        config.passportToken = passport
        config.requestIdFactory = { "call-\(number)" }
        let verb = try #require(HTTPVerb(rawValue: method))
        return try await withClient(config) { client in
            if let facet {
                let asked = client.facet(facet)
                return verb == .post ? await asked.post(path, body: body) : await asked.get(path, query: query)
            }
            return await client.request(
                AppRequest(
                    verb, path, query: query ?? [:], headers: headers ?? [:], body: body,
                    idempotencyKey: idempotency_key))
        }
    }
}

@Suite(
    "The same calls by a Python client",
    .enabled("Python and PyPI's httpx are wanted (see Peers/ron-peers.sh)") { await RonPeer.isThere })
struct PeerTests {
    /// The relevant part of a request: everything except what a library says about itself and its connection.
    private func essence(_ request: RecordedRequest) throws -> [String: String] {
        let own: Set = ["host", "user-agent", "accept-encoding", "connection", "content-length"]
        var essence = ["method": request.method, "target": request.target]
        for header in request.headers where !own.contains(header.name.lowercased()) {
            #expect(essence["header \(header.name.lowercased())"] == nil, "\(header.name) twice")
            essence["header \(header.name.lowercased())"] = header.value
        }
        if let body = request.body {
            let json = try JSONSerialization.jsonObject(with: Data(body.utf8), options: .fragmentsAllowed)
            essence["body"] = "\(try canonical(json))"
        }
        return essence
    }

    private func canonical(_ json: Any) throws -> String {
        String(
            decoding: try JSONSerialization.data(
                withJSONObject: json, options: [.sortedKeys, .fragmentsAllowed, .withoutEscapingSlashes]), as: UTF8.self
        )
    }

    @Test("Both send the same")
    func requests() async throws {
        let calls = try PeerCall.all()
        let theirs = try await MockPlane.running { plane in
            _ = try await RonPeer.call(plane.url, PeerCall.file)
            return plane.requests
        }
        let ours = try await MockPlane.running { plane in
            for (number, call) in calls.enumerated() { _ = try await call.make(plane.url, number: number) }
            return plane.requests
        }
        #expect(theirs.count == calls.count && ours.count == calls.count)
        for (call, (our, their)) in zip(calls, zip(ours, theirs)) {
            #expect(try essence(our) == essence(their), "\(call.name)")
        }
    }

    @Test("Both interpret the responses alike")
    func answers() async throws {
        // Each with its own plane: a request sent by one would be a repeat for the other.
        let theirs = try await MockPlane.running { try await RonPeer.call($0.url, PeerCall.file) }
        try await MockPlane.running { plane in
            let calls = try PeerCall.all()
            #expect(theirs.count == calls.count)
            for (number, (call, their)) in zip(calls, theirs).enumerated() {
                let our = try await call.make(plane.url, number: number)
                #expect(our.status == their["status"] as? Int, "\(call.name)")
                #expect(our.ok == (their["ok"] as? Bool) || call.path == "/fault/empty", "\(call.name)")
                if let data = their["data"], call.facet != "auth" {
                    let decoded = try JSONDecoder().decode(
                        JSONValue.self, from: JSONSerialization.data(withJSONObject: data))
                    #expect(our.data == decoded, "\(call.name)")
                }
                guard let said = their["problem"] as? [String: Any] else { continue }
                let problem =
                    try JSONSerialization.jsonObject(with: JSONEncoder().encode(our.problem)) as? [String: Any]
                for (name, value) in said {
                    #expect(problem?[name].map { "\($0)" } == "\(value)", "\(call.name): \(name)")
                }
            }
        }
    }
}
