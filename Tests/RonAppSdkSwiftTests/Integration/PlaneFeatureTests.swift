import Foundation
import RonAppSdkSwift
import TestSupport
import Testing
import ron_mock_plane

@Suite("Lists, streams and values against the mock plane")
struct PlaneFeatureTests {
    struct Item: Codable, Sendable, Equatable { let id, name: String }
    struct LogLine: Codable, Sendable, Equatable { let kind, payload: String }

    /// A value of each type of the canonical schema.
    struct Types: Codable, Sendable {
        var bool: Bool
        var u32: UInt32
        @RonWire var i64: Int64
        @RonWire var u64: UInt64
        var string: String
        @RonWire var bytes: Data
        @RonWire var timestamp: Date
        var id: String
    }

    @Test("All pages form one list, however its end is marked", arguments: ["null", "empty", "missing"])
    func pages(end: String) async throws {
        try await withPlane { plane, client in
            var names: [String] = []
            for try await item in client.listAll("/items", as: Item.self, query: ["total": "23", "end": end]) {
                names.append(item.name)
            }
            #expect(names == (0..<23).map { "item \($0)" })
            #expect(plane.requests.count == 3)
        }
    }

    @Test("An endless list is abandoned with an error")
    func endlessList() async throws {
        try await withPlane { plane, client in
            await #expect(throws: (any Error).self) {
                for try await _ in client.listAll("/items", as: Item.self, query: ["end": "never"]) {}
            }
            #expect(plane.requests.count < 10)
        }
    }

    @Test("A stream cut in the middle of an event delivers each one once", arguments: ["cut", "close"])
    func stream(way: String) async throws {
        try await withPlane { plane, client in
            let settings = StreamSettings(firstDelay: .milliseconds(1), longestDelay: .milliseconds(1))
            let stream = try await client.subscribe(
                LogLine.self, path: "/events/logs", query: ["count": "20", way: "3", "heartbeats": "1"],
                settings: settings)
            var lines: [String] = []
            for try await event in stream { lines.append(event.payload) }
            #expect(lines == (1...20).map { "line \($0)" })
            let resumed = [0] + plane.requests.compactMap { $0.header("last-event-id").flatMap { Int($0) } }
            // An error may overtake unread events before it: the server then sends those again.
            for (last, next) in zip(resumed, resumed.dropFirst()) {
                #expect(way == "close" && next < 20 ? next == last + 3 : (last...last + 3).contains(next), "\(resumed)")
            }
            #expect(resumed.last == 20)
        }
    }

    @Test("A value of each type is read from the wire and written back unchanged")
    func types() async throws {
        try await withPlane { _, client in
            let answer: AppResponse<Types> = await client.get("/types")
            let types = try answer.get()
            #expect(types.i64 == .min && types.u64 == .max && types.u32 == .max)
            #expect(types.bytes == Data([0xFB, 0xFF, 0x00]))
            #expect(types.timestamp.timeIntervalSince1970 == 1_772_742_000.25)
            let echoed: AppResponse<JSONValue> = await client.post("/echo", body: types)
            let raw = try #require(answer.raw)
            guard case .object(let written) = echoed.data,
                case .object(let told) = try JSONDecoder().decode(JSONValue.self, from: raw)
            else { throw TestFailure("no objects") }
            for name in ["i64", "u64", "bytes", "u32", "bool", "string", "id"] { #expect(written[name] == told[name]) }
            #expect(Set(written.keys) == Set(told.keys).subtracting(["added_later"]))
        }
    }

    @Test("Bytes have the wire's form even in types without wrappers")
    func plainBytes() async throws {
        struct Bytes: Codable, Sendable { let bytes: Data }
        try await withPlane { _, client in
            let told: AppResponse<Bytes> = await client.get("/types")
            let bytes = try told.get()
            #expect(bytes.bytes == Data([0xFB, 0xFF, 0x00]))
            let echoed: AppResponse<JSONValue> = await client.post("/echo", body: bytes)
            #expect(echoed.data == .object(["bytes": .string("-_8A")]))
        }
    }

    @Test("A node lists its loaded facets")
    func loadedFacets() async throws {
        try await withPlane { _, client in
            let answer: AppResponse<LoadedFacets> = await client.get("/facets/meta")
            let facets = try answer.get()
            #expect(facets.loaded.map(\.id) == ["echo", "docs", "auth"])
        }
    }
}
