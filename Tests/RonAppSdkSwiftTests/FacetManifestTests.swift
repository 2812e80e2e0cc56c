import Foundation
import Platform
import RonAppSdkSwift
import TestSupport
import Testing

private func fixture(_ name: String) throws -> String {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: folder.appending(path: "Fixtures/ron/facets/\(name)"), encoding: .utf8)
}

private let proxy = FacetManifest(
    id: "auth", kind: .proxy, security: .init(isPublic: false, requiresAuth: true),
    meta: .init(description: "Says who \"you\" are – täglich", owner: "core", version: "1.0.2"),
    limits: .init(maxRps: 100, maxConcurrency: 8),
    upstream: .init(scheme: "https", host: "auth.internal", port: 8443, basePath: "/v2"),
    routes: [.init("post", "/login", upstreamPath: "/session"), .init("GET", "/whoami"), .init("GET", "/files/*tail")])

private let site = FacetManifest(
    id: "docs", kind: .static,
    routes: [
        .init(
            "GET", "/", file: "index.html",
            integrity: .init(algo: "sha256", value: "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=")),
        .init("GET", "/a\\b'c", file: "a \"b\".html"),
    ])

@Suite("Facet manifests") struct FacetManifestTests {
    @Test(
        "A manifest is written in the form a Micronode loads",
        arguments: [("proxy.toml", proxy), ("static.toml", site)])
    func written(_ name: String, _ manifest: FacetManifest) throws {
        #expect(try manifest.toml() == (try fixture(name)))
    }

    @Test("A written manifest is read back unchanged")
    func readBack() throws {
        var expected = proxy
        expected.routes[0].method = "POST"
        let toml = try proxy.toml()
        #expect(try FacetManifest(toml: toml) == expected, "\(toml)")
        #expect(try FacetManifest(toml: try site.toml()) == site)
        #expect(
            try FacetManifest(toml: try FacetManifest(id: "e", kind: .echo).toml())
                == FacetManifest(id: "e", kind: .echo))
    }

    @Test("Any text in any field is read back unchanged")
    func anyText() throws {
        var generator = SeededGenerator(for: "anyText")
        let alphabet = Array("aZ09 \"'\\#=[]{}.,\n\t–ä\u{1F600}/*$`%")
        func text(_ prefix: String = "") -> String {
            prefix
                + String(
                    (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                        alphabet.randomElement(using: &generator) ?? "a"
                    })
        }
        for _ in 0..<500 {
            let manifest = FacetManifest(
                id: text("i").filter { !$0.isNewline && $0 != "\t" }, kind: .proxy,
                meta: .init(description: text(), owner: text(), version: text()),
                upstream: .init(scheme: "http", host: "h", port: .random(in: 1...65_535, using: &generator)),
                routes: (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                    .init("GET", text("/").filter { !$0.isNewline && $0 != "\t" })
                })
            #expect(try FacetManifest(toml: try manifest.toml()) == manifest)
        }
    }

    @Test("The older flat form is read")
    func flatForm() throws {
        let text = """
            id = "docs"
            kind = "static"
            routes = [{ path = "/", file = "index.html" }, { path = "/a", file = "a.html" }]
            """
        #expect(
            try FacetManifest(toml: text)
                == FacetManifest(
                    id: "docs", kind: .static,
                    routes: [.init("GET", "/", file: "index.html"), .init("GET", "/a", file: "a.html")]))
    }

    @Test("Keys added by a later version are ignored")
    func unknownKeys() throws {
        let text =
            "later = 1\n[facet]\nid = 'a'\nkind = 'echo'\ncolour = 'red'\n[[route]]\nmethod = 'GET'\npath = '/'\nx = 1\n"
        #expect(try FacetManifest(toml: text) == FacetManifest(id: "a", kind: .echo, routes: [.init("GET", "/")]))
    }

    @Test("An upstream inside the facet is rejected, as by loaders, and the error says where it belongs")
    func upstreamInTheFacet() throws {
        let text = "[facet]\nid = 'a'\nkind = 'proxy'\n[facet.upstream]\nscheme = 'http'\nhost = 'h'\nport = 1\n"
        let error = try #require(throws: FacetManifestError.self) { try FacetManifest(toml: text) }
        #expect(error.description.contains("[upstream]"))
    }

    @Test(
        "Invalid TOML is rejected with its line", arguments: [("[facet]\nid = \n", "line 2"), ("a = 'b", "line 1")])
    func noTOML(_ text: String, _ place: String) throws {
        let error = try #require(throws: FacetManifestError.self) { try FacetManifest(toml: text) }
        #expect(error.findings.map(\.place) == [place])
    }

    @Test("A missing key is named")
    func missingKey() throws {
        let error = try #require(throws: FacetManifestError.self) {
            try FacetManifest(toml: "[facet]\nkind = 'echo'\n")
        }
        #expect(error.description.contains("facet.id is missing"))
    }

    @Test(
        "A value of the wrong type is an error that names it",
        arguments: [
            ("facet = 1", "facet"), ("[facet]\nid = 1\nkind = 'echo'", "facet.id"),
            ("[facet]\nid = 'a'\nkind = ['echo']", "facet.kind"),
            ("[facet]\nid = 'a'\nkind = 'echo'\n[facet.limits]\nmax_rps = -1", "facet.limits.max_rps"),
            ("[facet]\nid = 'a'\nkind = 'echo'\n[facet.limits]\nmax_rps = 4294967296", "facet.limits.max_rps"),
            ("[facet]\nid = 'a'\nkind = 'echo'\n[facet.limits]\nmax_rps = nan", "facet.limits.max_rps"),
            ("[facet]\nid = 'a'\nkind = 'echo'\n[route]\npath = '/'", "route"),
            ("[facet]\nid = 'a'\nkind = 'echo'\n[[route]]\npath = '/'\n[[route]]\npath = 7", "route.[1].path"),
            (
                "[facet]\nid = 'a'\nkind = 'proxy'\n[upstream]\nscheme = 'http'\nhost = 'h'\nport = '80'",
                "upstream.port"
            ),
        ])
    func otherTypes(_ text: String, _ key: String) throws {
        let error = try #require(throws: FacetManifestError.self) { try FacetManifest(toml: text) }
        #expect(error.description.contains(key), "\(error)")
    }

    @Test("Each rule of the loader is checked before anything is written", arguments: BrokenManifest.all)
    func brokenRules(_ broken: BrokenManifest) throws {
        let error = try #require(throws: FacetManifestError.self) { try broken.manifest.toml() }
        #expect(error.findings.map(\.place) == [broken.place])
        #expect(error.findings.allSatisfy { $0.rule.contains(broken.rule) }, "\(error)")
    }

    @Test("All broken rules are reported at once")
    func allAtOnce() throws {
        let manifest = FacetManifest(
            id: " ", kind: .static, routes: [.init("POST", "a", file: "x"), .init("GET", "/", file: nil)])
        let error = try #require(throws: FacetManifestError.self) { try manifest.toml() }
        #expect(error.findings.count == 4, "\(error)")
    }

    @Test("A static route's file must exist, if a folder is given")
    func missingFile() throws {
        let folder = try TemporaryFolder()
        let url = URL(filePath: folder.path.text)
        #expect(site.findings(filesIn: url).map(\.rule).count == 2)
        try Data("x".utf8).write(to: url.appending(path: "index.html"))
        try Data("x".utf8).write(to: url.appending(path: "a \"b\".html"))
        #expect(site.findings(filesIn: url).isEmpty)
        _ = try site.toml(checkingFilesIn: url)
    }

    @Test("A route that is loaded but never answered causes a warning")
    func warnings() {
        let manifest = FacetManifest(
            id: "e", kind: .echo,
            routes: [.init("PUT", "/a"), .init("GET", "/a"), .init("get", "/a"), .init("POST", "/a")])
        #expect(manifest.findings().isEmpty)
        #expect(
            manifest.warnings().map(\.place) == [
                "facet \"e\", route 1 (PUT /a)", "facet \"e\", route 3 (get /a)",
            ])
    }

    @Test("The second facet with an id is reported, because a loader skips it")
    func duplicates() {
        let found = FacetManifest.duplicates(in: [site, proxy, site])
        #expect(found.map(\.place) == ["facet \"docs\""])
    }

    @Test("A node's list of loaded facets is read")
    func loaded() throws {
        let text = """
            {"loaded":[{"id":"docs","kind":"static","routes":[{"method":"GET","path":"/"}]},
            {"id":"auth","kind":"proxy","routes":[],"upstream":"https://auth.internal:8443","later":1}]}
            """
        let facets = try JSONDecoder().decode(LoadedFacets.self, from: Data(text.utf8))
        #expect(facets.loaded.map(\.id) == ["docs", "auth"])
        #expect(facets.loaded[0].routes == [LoadedRoute(method: "GET", path: "/")])
        #expect(facets.loaded[1].upstream == .string("https://auth.internal:8443"))
        #expect(facets.loaded[1].kind == .proxy)
    }
}

/// A manifest that breaks one rule.
struct BrokenManifest: Sendable, CustomTestStringConvertible {
    let manifest: FacetManifest
    let place: String
    let rule: String

    var testDescription: String { rule }

    private static func upstream(
        scheme: String = "http", host: String = "h", port: Int = 80, rule: String
    ) -> BrokenManifest {
        BrokenManifest(
            manifest: FacetManifest(
                id: "p", kind: .proxy, upstream: .init(scheme: scheme, host: host, port: port)),
            place: "facet \"p\"", rule: rule)
    }

    private static func route(_ kind: FacetManifest.Kind, _ route: FacetManifest.Route, rule: String) -> BrokenManifest
    {
        BrokenManifest(
            manifest: FacetManifest(id: "r", kind: kind, routes: [route]),
            place: "facet \"r\", route 1 (\(route.method) \(route.path))", rule: rule)
    }

    static let all: [BrokenManifest] = [
        BrokenManifest(
            manifest: FacetManifest(id: " ", kind: .echo), place: "facet \" \"", rule: "id must not be blank"),
        BrokenManifest(manifest: FacetManifest(id: "a\u{7}", kind: .echo), place: "facet \"a\u{7}\"", rule: "control"),
        BrokenManifest(
            manifest: FacetManifest(id: "k", kind: .init(rawValue: "magic")), place: "facet \"k\"", rule: "\"magic\""),
        BrokenManifest(
            manifest: FacetManifest(id: "p", kind: .proxy), place: "facet \"p\"", rule: "needs an [upstream]"),
        upstream(scheme: "ftp", rule: "http or https"), upstream(host: "", rule: "host must not be blank"),
        upstream(port: 0, rule: "1 to 65535"), upstream(port: 65_536, rule: "1 to 65535"),
        route(.echo, .init("BREW", "/"), rule: "GET, POST, PUT, PATCH or DELETE"),
        route(.echo, .init("GET", "hello"), rule: "the path must begin with /"),
        route(.echo, .init("GET", "/a\nb"), rule: "control characters"),
        route(.echo, .init("GET", "/", upstreamPath: "x"), rule: "upstream_path must begin with /"),
        route(.static, .init("POST", "/", file: "a"), rule: "GET alone"),
        route(.static, .init("GET", "/"), rule: "needs a file"),
        route(
            .static, .init("GET", "/", file: "a", integrity: .init(algo: "sha256", value: "*")), rule: "must be base64"),
    ]
}
