import Foundation
import RonAppSdkSwift
import TestSupport
import Testing

@Suite("Building URLs")
struct URLTests {
    private func url(_ path: String, _ query: [String: String] = [:], base: String = "https://node") throws -> String {
        try makeClient(ScriptedTransport(), baseUrl: base).buildUrl(path, query: query).absoluteString
    }

    @Test(
        "A path is appended to /app, once",
        arguments: [
            ("/hello", "/app/hello"), ("hello", "/app/hello"), ("/app/hello", "/app/hello"),
            ("app/hello", "/app/hello"),
            ("", "/app"), ("/", "/app/"), ("/app", "/app"), ("/app/", "/app/"), ("/apple", "/app/apple"),
            ("/a/b/", "/app/a/b/"), ("/facets/app/x", "/app/facets/app/x"),
        ])
    func once(path: String, expected: String) throws {
        #expect(try url(path) == "https://node\(expected)")
    }

    @Test("The base URL may end in slashes, have a path, a port, and end in /app itself")
    func bases() throws {
        #expect(try url("/x", base: "https://node/") == "https://node/app/x")
        #expect(try url("/x", base: "https://node///") == "https://node/app/x")
        #expect(try url("/x", base: "https://node:8443/ron/") == "https://node:8443/ron/app/x")
        #expect(try url("/x", base: "https://node/app/") == "https://node/app/x")
        #expect(try url("/x", base: "https://node/snapp") == "https://node/snapp/app/x")
        #expect(try url("/x", base: "https://[::1]:8443") == "https://[::1]:8443/app/x")
    }

    @Test(
        "A path that would lead elsewhere is rejected",
        arguments: [
            "/../admin", "/a/../../admin", "..", "/a/..", "/./a", "/a/.", "/%2e%2e/admin", "/.%2E/x", "/%2e",
            "//evil.example.com/x", "/a//b", "/app//b", "/app/../b", "/a\u{0}b", "/a\r\nb", "/\u{7f}",
        ])
    func leadsOut(path: String) throws {
        let client = try makeClient(ScriptedTransport())
        #expect { _ = try client.buildUrl(path) } throws: { ($0 as? LocalNetworkError)?.code == "local_invalid_path" }
    }

    @Test("Reserved characters are sent encoded")
    func smuggling() throws {
        #expect(try url("/a?admin=1#top") == "https://node/app/a%3Fadmin%3D1%23top".replacing("%3D", with: "="))
        #expect(try url("/50%/a b/ü/a\\b") == "https://node/app/50%25/a%20b/%C3%BC/a%5Cb")
        #expect(try url("/a;x/b&c+d@e") == "https://node/app/a%3Bx/b%26c%2Bd@e")
        #expect(try url("/evil.example.com:80/x") == "https://node/app/evil.example.com:80/x")
    }

    @Test("One request has one URL")
    func order() throws {
        let query = ["b": "2", "a": "1", "ä": "3", "A": "0"]
        #expect(try url("/x", query) == "https://node/app/x?A=0&a=1&b=2&%C3%A4=3")
        #expect(try url("/x", ["q": "1+1=2 & 50% #1"]) == "https://node/app/x?q=1%2B1%3D2%20%26%2050%25%20%231")
        #expect(try url("/x", ["": "", "empty": ""]) == "https://node/app/x?=&empty=")
    }

    @Test("Any path and query can be recovered from the URL")
    func roundTrip() throws {
        var chance = SeededGenerator(for: "URLTests.roundTrip")
        let client = try makeClient(ScriptedTransport(), baseUrl: "https://node.example.com:8443/ron")
        for _ in 0..<5_000 {
            let segments = (0..<Int.random(in: 1...4, using: &chance)).map { _ in Self.text(&chance, isSegment: true) }
            let pairs = (0..<Int.random(in: 0...5, using: &chance)).map { _ in
                (Self.text(&chance, isSegment: false), Self.text(&chance, isSegment: false))
            }
            let query = Dictionary(pairs) { $1 }
            let url = try client.buildUrl("/" + segments.joined(separator: "/"), query: query)
            #expect(url.scheme == "https" && url.host() == "node.example.com" && url.port == 8_443)
            #expect(url.fragment() == nil && url.user() == nil)
            let parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
            let decoded = parts.percentEncodedPath.split(separator: "/", omittingEmptySubsequences: false)
                .map { $0.removingPercentEncoding }
            #expect(decoded == ["", "ron", "app"] + segments)
            let items = (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }
            #expect(Dictionary(items) { $1 } == query && items.count == query.count)
            #expect(try client.buildUrl("/app/" + segments.joined(separator: "/"), query: query) == url)
        }
    }

    /// Text with many characters that are special in URLs.
    private static func text(_ chance: inout SeededGenerator, isSegment: Bool) -> String {
        let special = Array("+&=#%?/;:@!$'()*,[]{}|\\^`\"<>~. -_äß東京🦊é%2F%00&amp;")
        let text = String(
            (0..<Int.random(in: 0...8, using: &chance)).compactMap { _ in
                Bool.random(using: &chance)
                    ? special.randomElement(using: &chance) : "abcXYZ019".randomElement(using: &chance)
            })
        guard isSegment else { return text }
        // Segments are never empty, contain no slash, and are not dots: those have a separate test.
        let segment = text.replacing("/", with: "_")
        let isDots = [".", ".."].contains(segment.removingPercentEncoding ?? "")
        return segment.isEmpty || isDots || segment == "app" ? "x" : segment
    }
}
