import Foundation
import Platform
import Testing

@testable import Rules

@Suite("Values in the ledger") struct ValueCodingTests {
    private static let values: Values = [
        "text": .text("ä \"b\" 1"), "digits": .text("12"), "truth": .text("true"), "empty": .text(""),
        "number": .integer(-9_007_199_254_740_993), "zero": .integer(0), "one": .integer(1),
        "yes": .boolean(true), "no": .boolean(false),
        "date": .date(Timestamp(nanoseconds: 1_795_655_857_080_406_784)), "past": .date(Timestamp(nanoseconds: -1)),
        "shown": .local(LocalTime(CivilDateTime(secondsSince1970: -1), offset: -3_600)),
        "list": .list([.text("a"), .integer(2), .boolean(false), .list([]), .date(Timestamp(nanoseconds: 5))]),
    ]

    @Test("Each is read back as written") func readBack() throws {
        let text = try LedgerJSON.encode(Self.values)
        #expect(try LedgerJSON.decode(Values.self, from: text) == Self.values)
    }

    @Test("They are encoded as plain JSON") func written() throws {
        let values: Values = [
            "a": .text("x"), "b": .integer(2), "c": .boolean(true), "d": .list([.text("y")]),
            "e": .date(Timestamp(nanoseconds: 7)),
            "f": .local(LocalTime(CivilDateTime(secondsSince1970: 7), offset: 60)),
        ]
        #expect(
            try LedgerJSON.encode(values)
                == #"{"a":"x","b":2,"c":true,"d":["y"],"e":{"date":7},"f":{"local":[7,60]}}"#)
    }

    @Test("Values from earlier versions can be read") func former() throws {
        let text = """
            {"a":{"text":{"_0":"x"}},"b":{"integer":{"_0":2}},"c":{"boolean":{"_0":true}},
            "d":{"list":{"_0":[{"text":{"_0":"y"}}]}},"e":{"date":{"_0":"2026-11-26T01:17:37.080406784Z"}}}
            """
        #expect(
            try LedgerJSON.decode(Values.self, from: text) == [
                "a": .text("x"), "b": .integer(2), "c": .boolean(true), "d": .list([.text("y")]),
                "e": .date(Timestamp(nanoseconds: 1_795_655_857_080_406_784)),
            ])
    }

    @Test(
        "An invalid value is an error", arguments: ["null", "1.5", "{}", #"{"later":{"_0":1}}"#, #"{"text":{"_0":1}}"#])
    func noValue(text: String) {
        let fault = #expect(throws: Fault.self) { try LedgerJSON.decode(Values.self, from: "{\"a\":\(text)}") }
        #expect(fault?.kind == .failed)
    }
}
