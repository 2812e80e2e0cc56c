import Foundation

extension FacetManifest {
    /// The reasons for which a Micronode's loader would refuse the manifest.
    ///
    /// - Parameter folder: The folder for relative paths of static routes' files; nil skips the check that they exist.
    /// - Returns: The violated rules; empty if it would be loaded.
    public func findings(filesIn folder: URL? = nil) -> [FacetManifestError.Finding] {
        let rules: [(holds: Bool, rule: String)] =
            [
                (!Self.isBlank(id), "the id must not be blank"),
                (Self.isPlain(id), "the id must not hold control characters"),
                (
                    [.static, .echo, .proxy].contains(kind),
                    "the kind must be static, echo or proxy, and is \(quoted(kind.rawValue))"
                ),
                (kind != .proxy || upstream != nil, "a proxy needs an [upstream]"),
            ] + (upstream.map(rules(of:)) ?? [])
        return rules.filter { !$0.holds }.map { .init(place: place, rule: $0.rule) }
            + routes.enumerated().flatMap { index, route in
                self.rules(of: route, filesIn: folder).filter { !$0.holds }
                    .map { .init(place: place(of: route, index), rule: $0.rule) }
            }
    }

    /// Routes that a loader accepts, but that do not work as expected.
    ///
    /// - Returns: A finding for each route that is never mounted, or that is hidden by an earlier one.
    public func warnings() -> [FacetManifestError.Finding] {
        var seen: Set<[String]> = []
        return routes.enumerated().flatMap { index, route -> [FacetManifestError.Finding] in
            let method = route.method.uppercased()
            var rules: [String] = []
            if kind != .static, !["GET", "POST"].contains(method) {
                rules.append("only GET and POST are mounted for \(kind.rawValue), so \(method) is never answered")
            }
            if !seen.insert([method, route.path]).inserted {
                rules.append("a route before it has the same method and path")
            }
            return rules.map { .init(place: place(of: route, index), rule: $0) }
        }
    }

    /// The manifests that a loader would skip because an earlier one has the same id.
    ///
    /// - Parameter manifests: In loading order.
    /// - Returns: A finding for each skipped one.
    public static func duplicates(in manifests: [FacetManifest]) -> [FacetManifestError.Finding] {
        var seen: Set<String> = []
        return manifests.filter { !seen.insert($0.id).inserted }
            .map { .init(place: $0.place, rule: "another facet has the same id, so this one is not loaded") }
    }

    private var place: String { "facet \(quoted(id))" }

    private func place(of route: Route, _ index: Int) -> String {
        "\(place), route \(index + 1) (\(route.method) \(route.path))"
    }

    private func rules(of upstream: Upstream) -> [(holds: Bool, rule: String)] {
        [
            (
                ["http", "https"].contains(upstream.scheme),
                "the upstream's scheme must be http or https, and is \(quoted(upstream.scheme))"
            ),
            (!Self.isBlank(upstream.host), "the upstream's host must not be blank"),
            ((1...65_535).contains(upstream.port), "the upstream's port must be 1 to 65535, and is \(upstream.port)"),
            (
                [upstream.host, upstream.basePath ?? ""].allSatisfy(Self.isPlain),
                "the upstream must not hold control characters"
            ),
        ]
    }

    private func rules(of route: Route, filesIn folder: URL?) -> [(holds: Bool, rule: String)] {
        var rules: [(Bool, String)] = [
            (
                HTTPVerb(rawValue: route.method.uppercased()) != nil,
                "the method must be GET, POST, PUT, PATCH or DELETE, and is \(quoted(route.method))"
            ),
            (route.path.hasPrefix("/"), "the path must begin with /, and is \(quoted(route.path))"),
            (
                route.upstreamPath?.hasPrefix("/") ?? true,
                "the upstream_path must begin with /, and is \(quoted(route.upstreamPath ?? ""))"
            ),
            (
                [route.path, route.file ?? "", route.upstreamPath ?? ""].allSatisfy(Self.isPlain),
                "paths and files must not hold control characters"
            ),
        ]
        if kind == .static {
            rules.append(
                (route.method.uppercased() == "GET", "a static facet answers GET alone, not \(quoted(route.method))"))
            if let file = route.file {
                let isThere = folder.map { Self.isFile(file, in: $0) } ?? true
                rules.append((isThere, "the file \(quoted(file)) does not exist"))
            } else {
                rules.append((false, "a static route needs a file"))
            }
        }
        if let integrity = route.integrity {
            rules.append((!Self.isBlank(integrity.algo), "the integrity's algo must not be blank"))
            rules.append((Data(base64URL: integrity.value) != nil, "the integrity's value must be base64"))
        }
        return rules
    }

    private static func isBlank(_ text: String) -> Bool { text.allSatisfy(\.isWhitespace) }

    private static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    private static func isFile(_ file: String, in folder: URL) -> Bool {
        var isFolder: ObjCBool = false
        let url = file.hasPrefix("/") ? URL(filePath: file) : folder.appending(path: file)
        let path = url.path(percentEncoded: false)
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }
}
