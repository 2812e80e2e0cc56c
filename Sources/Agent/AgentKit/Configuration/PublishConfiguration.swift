import Foundation
import Platform
import RonAppSdkSwift
import RuleActions
import Rules

extension Configuration {
    private static let targetKeys = [
        "kind", "url", "token", "secret", "facet", "facet-prefix", "path", "allow-insecure-http", "timeout", "attempts",
        "give-up-after", "limit", "on-dead",
    ]
    /// Keys that are valid for only one kind of target.
    private static let ofKind: [String: PublishTarget.Kind] = [
        "secret": .webhook, "facet": .ron, "facet-prefix": .ron,
    ]
    /// A body is held in memory while it is sent, and in the ledger until then.
    private static let mostBytes: Int64 = 16 << 20

    /// Reads `publish:`.
    mutating func readPublish(_ node: YamlNode, _ reader: YamlReader) {
        guard let mapping = reader.mapping(node, "`publish`") else { return }
        for entry in mapping.entries {
            let name = printable(entry.key)
            guard entry.key.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil else {
                reader.report(
                    entry.keyPosition,
                    "the name of a target may contain letters, digits, `_` and `-`, at most 64 of them, not `\(name)`")
                continue
            }
            guard let part = reader.mapping(entry.value, "the target `\(name)`", keys: Self.targetKeys) else {
                continue
            }
            if let target = Self.target(entry.key, entry.keyPosition, part, reader) { publish.append(target) }
        }
        if mapping.entries.isEmpty {
            reader.report(node.position, "`publish` is empty", hint: "name a target, or remove the line")
        }
    }

    private static func target(
        _ name: String, _ position: SourcePosition, _ part: YamlMapping, _ reader: YamlReader
    ) -> PublishTarget? {
        guard let kindNode = part["kind"], let urlNode = part["url"] else {
            let missing = part["kind"] == nil ? "kind" : "url"
            reader.report(
                position, "the target `\(name)` has no `\(missing)`",
                hint: "write `{ kind: webhook, url: \"https://hooks.example.org/steward\" }`, or `kind: ron` for a node"
            )
            return nil
        }
        let kinds = PublishTarget.Kind.allCases.map(\.rawValue)
        guard let kind = reader.choice(kindNode, "`kind`", among: kinds).flatMap(PublishTarget.Kind.init(rawValue:))
        else {
            return nil
        }
        for (key, only) in ofKind.sorted(by: { $0.key < $1.key }) where only != kind {
            if let node = part[key] {
                reader.report(
                    node.position,
                    "`\(key)` is for targets of the kind `\(only.rawValue)`, and this is a \(kind.rawValue)")
            }
        }
        var isInsecure = false
        if let node = part["allow-insecure-http"], let allow = reader.boolean(node, "`allow-insecure-http`") {
            isInsecure = allow
        }
        guard let url = url(urlNode, kind, allowsInsecureHTTP: isInsecure, reader) else { return nil }
        var target = PublishTarget(name: name, kind: kind, url: url)
        target.allowsInsecureHTTP = isInsecure
        target.token = credential(part["token"], "`token`", reader)
        target.secret = credential(part["secret"], "`secret`", reader)
        readFacet(part, reader, &target)
        if let node = part["path"], let path = reader.text(node, "`path`") {
            if path.wholeMatch(of: /\/[A-Za-z0-9._~!$&'()*+,;=:@%\/-]*/) != nil {
                target.path = path.hasSuffix("/") ? String(path.dropLast()) : path
            } else {
                reader.report(
                    node.position, "`path` begins with a slash and is a valid URL path: no query, no spaces")
            }
        }
        readLimits(part, reader, &target)
        return target
    }

    private static func readFacet(_ part: YamlMapping, _ reader: YamlReader, _ target: inout PublishTarget) {
        if let node = part["facet"], let facet = reader.text(node, "`facet`") {
            if facet.wholeMatch(of: /[A-Za-z0-9._~-]{1,128}/) != nil {
                target.facet = facet
            } else {
                reader.report(node.position, "`facet` is a facet's id: letters, digits, `.`, `_`, `~` and `-`")
            }
        }
        guard let node = part["facet-prefix"], let prefix = reader.text(node, "`facet-prefix`") else { return }
        if part["facet"] == nil {
            reader.report(
                node.position, "`facet-prefix` has no effect without `facet`", hint: "name the facet, or use `path`")
        }
        if prefix == "/app" || prefix.hasPrefix("/app/") {
            reader.report(node.position, "`facet-prefix` begins with /app, which is added to every path; leave it out")
        } else if prefix == "/" {
            target.facetPrefix = ""
        } else if prefix.wholeMatch(of: /(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+/) != nil {
            target.facetPrefix = prefix
        } else {
            reader.report(
                node.position, "`facet-prefix` is a path without a trailing slash, such as `/facets`, or `/` for none")
        }
    }

    private static func readLimits(_ part: YamlMapping, _ reader: YamlReader, _ target: inout PublishTarget) {
        if let node = part["timeout"], let seconds = reader.duration(node, "`timeout`") {
            target.timeout = min(600, max(0.1, seconds))
        }
        if let node = part["attempts"] {
            target.attempts = reader.integer(node, "`attempts`", in: 1...1_000_000)
        }
        if let node = part["give-up-after"], let seconds = reader.duration(node, "`give-up-after`") {
            target.giveUpAfter = max(1, seconds)
        }
        if let node = part["limit"], let bytes = reader.size(node, "`limit`") {
            let mostBytes = target.kind == .ron ? Int64(RonClient.maxRequestBytes) : mostBytes
            if (1...mostBytes).contains(bytes) {
                target.limit = Int(bytes)
            } else {
                reader.report(
                    node.position, "`limit` is at most \(mostBytes / (1 << 20)) MiB for a \(target.kind.rawValue)",
                    hint: "send a reference to anything larger")
            }
        }
        let words = PublishTarget.OnDead.allCases.map(\.rawValue)
        if let node = part["on-dead"], let word = reader.choice(node, "`on-dead`", among: words) {
            target.onDead = PublishTarget.OnDead(rawValue: word) ?? .continue
        }
    }

    private static func credential(_ node: YamlNode?, _ what: String, _ reader: YamlReader) -> String? {
        guard let node, let name = reader.text(node, what) else { return nil }
        if PublishCredentials.isName(name) { return name }
        reader.report(
            node.position,
            "\(what) is the name of a credential, not the credential itself: lower-case letters, digits, `-` and `_`",
            hint: "docs/publish.md says where credentials come from")
        return nil
    }

    private static func url(
        _ node: YamlNode, _ kind: PublishTarget.Kind, allowsInsecureHTTP: Bool, _ reader: YamlReader
    ) -> URL? {
        guard let text = reader.text(node, "`url`") else { return nil }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = url.host, !host.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            reader.report(
                node.position, "`url` is not a URL that events can be sent to",
                hint: "write it as `https://hub.example.org`")
            return nil
        }
        if scheme == "http", !allowsInsecureHTTP {
            reader.report(
                node.position, "`url` has no TLS: anybody on the network path can read and change the events",
                hint: "write `https://`, or say `allow-insecure-http: true` for a server on this machine or in a tunnel"
            )
            return nil
        }
        if url.user != nil || url.password != nil {
            reader.report(
                node.position, "a name or password in `url` would appear in logs",
                hint: "use `token`, the name of a credential")
            return nil
        }
        if url.fragment != nil || (kind == .ron && url.query != nil) {
            reader.report(node.position, "`url` must not have a fragment\(kind == .ron ? " or a query" : "")")
            return nil
        }
        return url
    }
}
