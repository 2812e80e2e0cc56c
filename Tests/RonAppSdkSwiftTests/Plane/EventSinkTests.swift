import Foundation
import NIOHTTP1
import Platform
import TestSupport
import Testing
import ron_mock_plane

@Suite("The event sink")
struct EventSinkTests {
    private func post(
        _ url: String, _ body: String, key: String, name: String = "idempotency-key"
    ) async throws -> PlainHTTP.Answer {
        try await PlainHTTP.ask(.POST, url + "/app/events", headers: [name: key], body: body)
    }

    @Test("The first event with a key counts, and a repetition gets the same response")
    func once() async throws {
        try await MockPlane.running { plane in
            let first = try await post(plane.url, #"{"key":"k","n":1}"#, key: "a")
            let other = try await post(plane.url, #"{"key":"k","n":2}"#, key: "b", name: "x-idempotency-key")
            let again = try await post(plane.url, #"{"key":"k","n":1}"#, key: "a")
            #expect(first.status == 201 && again.status == 201 && other.status == 201)
            #expect(first.body == again.body && first.body != other.body)
            #expect(again.headers["idempotent-replayed"] == ["true"] && first.headers["idempotent-replayed"].isEmpty)
            #expect(plane.events.map(\.id) == ["a", "b"])
            #expect(plane.events.map(\.key) == ["k", "k"])
            let list = try await PlainHTTP.ask(.GET, plane.url + "/app/events?after=1")
            #expect(list.json["count"] as? Int == 2 && (list.json["events"] as? [Any])?.count == 1)
        }
    }

    @Test("A key used for another event is rejected, and so is an invalid one")
    func wrongKeys() async throws {
        try await MockPlane.running { plane in
            _ = try await post(plane.url, "1", key: "a")
            #expect(try await post(plane.url, "2", key: "a").status == 422)
            #expect(try await post(plane.url, "1", key: "has space").status == 400)
            #expect(try await post(plane.url, "1", key: String(repeating: "x", count: 65)).status == 400)
            let both = ["idempotency-key": "b", "x-idempotency-key": "c"]
            #expect(try await PlainHTTP.ask(.POST, plane.url + "/app/events", headers: both, body: "1").status == 400)
            #expect(plane.events.count == 1)
        }
    }

    @Test("Sent many times concurrently, an event counts once")
    func concurrent() async throws {
        try await MockPlane.running { plane in
            let url = plane.url
            let bodies = try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 1...40 { group.addTask { try await post(url, "1", key: "same").body } }
                return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
            }
            #expect(bodies.count == 1 && plane.events.count == 1)
        }
    }

    @Test("A lost response does not lose the event")
    func lostAnswer() async throws {
        try await MockPlane.running { plane in
            await #expect(throws: (any Error).self) {
                try await PlainHTTP.ask(
                    .POST, plane.url + "/app/events?fault=lost", headers: ["idempotency-key": "a"], body: "1")
            }
            #expect(plane.events.map(\.id) == ["a"])
        }
    }

    @Test("Acknowledged events survive killing the plane, and torn ones are not there")
    func survivesKill() async throws {
        let folder = try TemporaryFolder("plane")
        let store = folder.path.appending("events.jsonl")
        var plane = try await PlaneProcess(["--store", store.text])
        for number in 1...5 { #expect(try await post(plane.url, "\(number)", key: "e\(number)").status == 201) }
        try await plane.kill()
        // As left by a crash in the middle of a write that was never acknowledged.
        try folder.append("events.jsonl", #"{"sequence":6,"id":"e6","#)
        plane = try await PlaneProcess(["--store", store.text])
        let list = try await PlainHTTP.ask(.GET, plane.url + "/app/events")
        let ids = (list.json["events"] as? [[String: Any]])?.map { $0["id"] as? String }
        #expect(ids == ["e1", "e2", "e3", "e4", "e5"])
        let repeated = try await post(plane.url, "3", key: "e3")
        #expect(repeated.json["sequence"] as? Int == 3)
        #expect(try await post(plane.url, "6", key: "e6").json["sequence"] as? Int == 6)
    }

    @Test("A store in use by another plane, or that is invalid, is rejected with advice")
    func refusesStore() async throws {
        let folder = try TemporaryFolder("plane")
        try folder.write("other.jsonl", "{\"not\": \"an event\"}\n")
        var options = MockPlaneOptions()
        options.store = folder.path.appending("other.jsonl")
        let foreign = await #expect(throws: Fault.self) { try await MockPlane.running(options) { _ in } }
        #expect(foreign?.message.contains("line 1") == true)
        options.store = folder.path.appending("events.jsonl")
        try await MockPlane.running(options) { [options] _ in
            let taken = await #expect(throws: Fault.self) { try await MockPlane.running(options) { _ in } }
            #expect(taken?.message.contains("another process") == true)
        }
    }
}

extension TemporaryFolder {
    fileprivate func append(_ name: BytePath, _ text: String) throws {
        try write(name, try read(name) + text)
    }
}
