import DotLifeDomain
import Foundation
import Testing

@Suite("Experience requests")
struct ExperienceRequestTests {
    @Test("The stored numbers and names of the types do not change")
    func rawValues() {
        #expect(MomentType.allCases.map(\.rawValue) == [0, 1, 2])
        #expect(MomentType.allCases.map(\.label) == ["now", "today", "this week"])
        #expect(ExperienceType.allCases.map(\.rawValue) == [0, 1, 2, 3])
        #expect(ExperienceType.allCases.map(\.label) == ["note", "photo", "link", "dot"])
        #expect(GridScale.allCases.map(\.label) == ["Hours", "Days", "Weeks", "Months"])
        #expect(TimeBucketType.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
        #expect(MomentType.allCases.map(\.next) == [.today, .thisWeek, .now])
        #expect(ExperienceType.allCases.map(\.next) == [.photo, .link, .dot, .note])
    }

    @Test("A value stored by a newer version is read as the plainest one")
    func unknownRawValues() {
        #expect(MomentType(stored: 9) == .now)
        #expect(ExperienceType(stored: 9) == .dot)
        #expect(AttachmentType(stored: 9) == .photo)
    }

    @Test("A note is trimmed, and must not be empty")
    func note() throws {
        #expect(try ExperienceRequest.note("  rain\n on tin \n").noteText == "rain\n on tin")
        #expect(throws: ExperienceError.self) { try ExperienceRequest.note(" \n\t ") }
    }

    @Test(
        "A link without a scheme gets https",
        arguments: [
            ("example.org", "https://example.org"), ("http://example.org/a?b=c#d", "http://example.org/a?b=c#d"),
            (" https://example.org \n", "https://example.org"), ("example.org:8080/x", "https://example.org:8080/x"),
            ("HTTPS://Example.org/", "HTTPS://Example.org/"), ("https://me@example.org/", "https://me@example.org/"),
        ])
    func links(given: String, stored: String) throws {
        let request = try ExperienceRequest.link(given)
        #expect(request.linkURL == stored)
        #expect(request.experienceType == .link)
    }

    @Test(
        "Anything but a web address is rejected",
        arguments: [
            "", "   ", "localhost", "https://", "http://localhost/a.b", "two words.org", "ftp://example.org",
            "mailto:me@example.org", "https://.", "javascript:alert(1.5)", "exa\nmple.org", "https://.org",
        ])
    func badLinks(given: String) {
        #expect(throws: ExperienceError.invalidData("Invalid URL")) { try ExperienceRequest.link(given) }
    }

    @Test("A photo needs bytes; a dot needs nothing")
    func photoAndDot() throws {
        #expect(throws: ExperienceError.invalidData("No photo selected")) { try ExperienceRequest.photo(Data()) }
        #expect(throws: ExperienceError.invalidData("No photo selected")) { try ExperienceRequest.photo(fileAt: []) }
        let dot = ExperienceRequest.dot(momentType: .thisWeek)
        #expect(dot.experienceType == .dot)
        #expect(dot.timestamp == nil)
    }

    @Test("A request survives a round trip through JSON")
    func codable() throws {
        let request = try ExperienceRequest.photo(fileAt: [0x2F, 0xFF, 0x61], timestamp: at("2026-11-21T09:30:00Z"))
        let back = try JSONDecoder().decode(ExperienceRequest.self, from: JSONEncoder().encode(request))
        #expect(back == request)
    }

    @Test(
        "Whatever the factories reject cannot be decoded either",
        arguments: [
            #"{"momentType":0,"experienceType":0,"noteText":"  "}"#, #"{"momentType":0,"experienceType":0}"#,
            #"{"momentType":0,"experienceType":2,"linkURL":"javascript:alert(1.5)"}"#,
            #"{"momentType":0,"experienceType":2}"#, #"{"momentType":0,"experienceType":1}"#,
            #"{"momentType":0,"experienceType":1,"photo":{"data":{"_0":""}}}"#,
            #"{"momentType":0,"experienceType":1,"photo":{"file":{"path":[]}}}"#,
            #"{"momentType":0,"experienceType":3,"noteText":"x"}"#,
            #"{"momentType":0,"experienceType":0,"noteText":"x","linkURL":"https://example.org"}"#,
            #"{"momentType":0,"experienceType":3,"photo":{"file":{"path":[47,97]}}}"#,
            #"{"momentType":7,"experienceType":3}"#,
            #"{"momentType":0,"experienceType":3,"attachments":[{"content":{"data":{"_0":"AA=="}},"originalName":[47]}]}"#,
            #"{"momentType":0,"experienceType":3,"attachments":[{"content":{"data":{"_0":"AA=="}},"sha256":"ab"}]}"#,
        ])
    func decodedInvalid(json: String) {
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(ExperienceRequest.self, from: Data(json.utf8))
        }
    }

    @Test("A photo encoded by an earlier version can still be read")
    func earlierPhoto() throws {
        let json = #"{"momentType":0,"experienceType":1,"photo":{"file":{"path":[47,97,47,98]}},"timestamp":0}"#
        let request = try JSONDecoder().decode(ExperienceRequest.self, from: Data(json.utf8))
        #expect(request.photo == .file(path: Array("/a/b".utf8)))
        #expect(request.attachments.map(\.originalName) == [Array("b".utf8)])
        #expect(request == (try .photo(fileAt: Array("/a/b".utf8), timestamp: request.timestamp)))
    }

    @Test("A decoded note is trimmed, and a link completed, as when they are created")
    func decodedAsMade() throws {
        let note = #"{"momentType":1,"experienceType":0,"noteText":" rain "}"#
        #expect(try JSONDecoder().decode(ExperienceRequest.self, from: Data(note.utf8)).noteText == "rain")
        let link = #"{"momentType":1,"experienceType":2,"linkURL":"example.org"}"#
        #expect(
            try JSONDecoder().decode(ExperienceRequest.self, from: Data(link.utf8)).linkURL == "https://example.org")
    }

    @Test("A capture can have as many files as the limit allows, with valid file names")
    func attachmentLimits() throws {
        let file = try AttachmentSource(.data(Data([1])), originalName: Array("a".utf8))
        let most = Array(repeating: file, count: ExperienceRequest.attachmentLimit)
        #expect(try ExperienceRequest.note("x", attachments: most).attachments.count == most.count)
        #expect(throws: ExperienceError.self) { try ExperienceRequest.note("x", attachments: most + [file]) }
        for name in [[], [0x2F], [0x61, 0], [UInt8](repeating: 0x61, count: 256)] as [[UInt8]] {
            #expect(throws: ExperienceError.self) { try AttachmentSource(.data(Data()), originalName: name) }
        }
        #expect(throws: ExperienceError.invalidData("No photo selected")) {
            try ExperienceRequest.photo([AttachmentSource(.data(Data([1])), type: .file)])
        }
    }
}
