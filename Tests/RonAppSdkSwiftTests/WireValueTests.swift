import Foundation
import RonAppSdkSwift
import TestSupport
import Testing

/// A type as written by a package that uses the library, with its own names and case.
private struct Upload: Codable, Equatable {
    @RonWire var sizeInBytes: UInt64
    @RonWire var delta: Int64?
    @RonWire var digest: Data?
    @RonWire var finishedAt: Date?
    @RonWire var parts: [UInt64]
    @RonWire var counts: [String: Int64]
    var name: String
}

private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

private func value<Value: WireValue>(_ type: Value.Type = Value.self, _ json: String) throws -> Value {
    try JSONDecoder().decode(RonWire<Value>.self, from: Data(json.utf8)).wrappedValue
}

/// The decoder's error message.
private func complaint<Value: WireValue>(_ type: Value.Type, _ json: String) -> String? {
    do {
        _ = try value(type, json)
        return nil
    } catch DecodingError.dataCorrupted(let context) {
        return context.debugDescription
    } catch {
        return String(describing: error)
    }
}

@Suite("RON's values on the wire") struct WireValueTests {
    @Test("Fields have the schema's forms, their own names, and are omitted if nil")
    func fieldsHaveTheirForms() throws {
        var upload = Upload(
            sizeInBytes: .max, parts: [1, 18_446_744_073_709_551_615], counts: ["a": -1], name: "x")
        #expect(
            try json(upload)
                == #"{"counts":{"a":"-1"},"name":"x","parts":["1","18446744073709551615"],"sizeInBytes":"18446744073709551615"}"#
        )
        upload.delta = .min
        upload.digest = Data([0xFB, 0xEF, 0xFF, 0x00])
        upload.finishedAt = Date(timeIntervalSince1970: 1_767_323_045.25)
        let text = try json(upload)
        #expect(text.contains(#""delta":"-9223372036854775808""#))
        #expect(text.contains(#""digest":"--__AA""#))
        #expect(text.contains(#""finishedAt":"2026-01-02T03:04:05.25Z""#))
        #expect(try JSONDecoder().decode(Upload.self, from: Data(text.utf8)) == upload)
    }

    @Test("A missing field and null are nil; unknown fields are ignored")
    func missingAndNull() throws {
        let text = #"{"sizeInBytes":7,"delta":null,"parts":[1,"2"],"counts":{},"name":"x","later":{"a":1}}"#
        let upload = try JSONDecoder().decode(Upload.self, from: Data(text.utf8))
        #expect(upload == Upload(sizeInBytes: 7, parts: [1, 2], counts: [:], name: "x"))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Upload.self, from: Data(#"{"parts":[],"counts":{},"name":"x"}"#.utf8))
        }
    }

    @Test("Integers are read from strings and numbers, exact to the last unit")
    func integersAtTheBorders() throws {
        for number in [UInt64.min, 1, 9_007_199_254_740_991, 9_007_199_254_740_993, .max - 1, .max] {
            #expect(try value(UInt64.self, "\(number)") == number)
            #expect(try value(UInt64.self, "\"\(number)\"") == number)
        }
        for number in [Int64.min, .min + 1, -9_007_199_254_740_993, -1, 0, 9_007_199_254_740_993, .max] {
            #expect(try value(Int64.self, "\(number)") == number)
            #expect(try value(Int64.self, "\"\(number)\"") == number)
        }
        var generator = SeededGenerator(for: "integersAtTheBorders")
        for _ in 0..<2_000 {
            let unsigned =
                UInt64.random(in: .min ... .max, using: &generator) >> Int.random(in: 0...63, using: &generator)
            let signed = Int64(bitPattern: unsigned)
            #expect(try json(RonWire(wrappedValue: unsigned)) == "\"\(unsigned)\"")
            #expect(try value(UInt64.self, "\(unsigned)") == unsigned)
            #expect(try value(UInt64.self, try json(RonWire(wrappedValue: unsigned))) == unsigned)
            #expect(try value(Int64.self, try json(RonWire(wrappedValue: signed))) == signed)
        }
    }

    @Test(
        "A value out of range or not an integer is an error that names it",
        arguments: [
            "18446744073709551616", "-1", "99999999999999999999999999", "1.5", "\"18446744073709551616\"", "\"-1\"",
            "\"1.0\"", "\"0x10\"", "\"+1\"", "\" 1\"", "\"\"", "\"1e3\"", "\"٣\"", "\"twelve\"",
        ])
    func outOfRange(_ text: String) throws {
        let said = try #require(complaint(UInt64.self, text))
        #expect(said.contains(text), "\(said)")
    }

    @Test("One unit beyond each limit is rejected", arguments: ["9223372036854775808", "-9223372036854775809"])
    func beyondTheBorder(_ number: String) throws {
        #expect(try #require(complaint(Int64.self, number)).contains(number))
        #expect(try #require(complaint(Int64.self, "\"\(number)\"")).contains(number))
    }

    @Test("Bytes are read from base64url and base64, with and without padding")
    func bytesInEveryForm() throws {
        var generator = SeededGenerator(for: "bytesInEveryForm")
        for length in 0..<200 {
            let bytes = Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
            let padded = bytes.base64EncodedString()
            let bare = padded.filter { $0 != "=" }
            let url = padded.replacing("+", with: "-").replacing("/", with: "_")
            for form in [padded, bare, url, url.filter { $0 != "=" }] {
                #expect(try value(Data.self, "\"\(form)\"") == bytes)
            }
            #expect(try json(RonWire(wrappedValue: bytes)) == "\"\(url.filter { $0 != "=" })\"")
        }
    }

    @Test(
        "Invalid base64 is rejected",
        arguments: ["A", "AAAAA", "A=", "AA=", "A===", "AA A", "AA\\n", "=", "A*==", "ÄÄ"])
    func noBytes(_ text: String) {
        #expect(complaint(Data.self, "\"\(text)\"") != nil)
    }

    @Test(
        "A time is read with any offset and any fraction",
        arguments: [
            ("2026-01-02T03:04:05Z", 1_767_323_045.0), ("2026-01-02T03:04:05z", 1_767_323_045),
            ("2026-01-02t03:04:05.25Z", 1_767_323_045.25), ("2026-01-02T03:04:05.250000000Z", 1_767_323_045.25),
            ("2026-01-02T04:34:05+01:30", 1_767_323_045), ("2026-01-01T22:04:05-0500", 1_767_323_045),
            ("1969-12-31T23:59:59.5Z", -0.5), ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("0001-01-01T00:00:00Z", -62_135_596_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ])
    func times(_ text: String, _ seconds: TimeInterval) throws {
        #expect(try value(Date.self, "\"\(text)\"") == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "A time without an offset, or an invalid one, is rejected and named",
        arguments: [
            "2026-01-02", "2026-01-02T03:04:05", "2026-13-02T03:04:05Z", "2026-02-30T03:04:05Z", "2026-01-02T25:00:00Z",
            "2026-01-02 03:04:05Z", "2026-01-02T03:04Z", "2026-01-02T03:04:05.Z", "1767323045", "", "yesterday",
            "2025-02-29T00:00:00Z", "2026-01-02T03:04:05+1", "2026-01-02T03:04:05Zulu",
        ])
    func noTimes(_ text: String) throws {
        #expect(try #require(complaint(Date.self, "\"\(text)\"")).contains("\"\(text)\""))
    }

    @Test("A time is sent in UTC and read back unchanged, to the precision of Date")
    func timesComeBack() throws {
        var generator = SeededGenerator(for: "timesComeBack")
        for _ in 0..<3_000 {
            let time = Date(timeIntervalSince1970: .random(in: -5_000_000_000...20_000_000_000, using: &generator))
            let text = try json(RonWire(wrappedValue: time))
            #expect(text.hasSuffix("Z\""))
            // Half of the nanosecond sent, plus one step of a Date's precision this far from 2001.
            let fineness = 5e-10 + time.timeIntervalSinceReferenceDate.ulp
            #expect(abs(try value(Date.self, text).timeIntervalSince(time)) <= fineness, "\(text)")
        }
        #expect(throws: EncodingError.self) { try json(RonWire(wrappedValue: Date(timeIntervalSince1970: .infinity))) }
        #expect(throws: EncodingError.self) {
            try json(RonWire(wrappedValue: Date(timeIntervalSince1970: 253_402_300_800)))
        }
    }

    @Test("A client sends and reads plain dates in the same form, including fractions")
    func datesOfClients() async throws {
        let server = try ScriptedServer(.reply(200, #"{"at":"2026-01-02T04:04:05.250+01:00"}"#))
        let client = try RonClient(config: RonConfig(baseUrl: URL(string: server.url), allowInsecureHttp: true))
        let time = Date(timeIntervalSince1970: 1_767_323_045.25)
        let answer: AppResponse<[String: Date]> = await client.post("/at", body: ["at": time])
        #expect(answer.data == ["at": time])
        #expect(server.requests.first?.body == #"{"at":"2026-01-02T03:04:05.25Z"}"#)
        try await client.close()
    }

    @Test("Nanoseconds near Date's reference date are kept")
    func nanoseconds() throws {
        let time = Date(timeIntervalSinceReferenceDate: 0.123456789)
        #expect(try json(RonWire(wrappedValue: time)) == "\"2001-01-01T00:00:00.123456789Z\"")
        #expect(try value(Date.self, "\"2001-01-01T00:00:00.123456789Z\"") == time)
    }
}
