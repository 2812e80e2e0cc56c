import Foundation
import HTTPKit

/// The HTTP proxy for a server, from the usual variables: `https_proxy`, `http_proxy` (lower case only, because a web
/// server may set the other from a request's header), `all_proxy`, `no_proxy`. Loopback never uses a proxy.
package struct ProxySettings: Sendable {
    private let secure: HTTPProxy?
    private let plain: HTTPProxy?
    private let exceptions: [String]

    package init(environment: [String: String]) {
        func proxy(_ names: [String]) -> HTTPProxy? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }.flatMap(Self.parse)
        }
        secure = proxy(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        plain = proxy(["http_proxy", "all_proxy", "ALL_PROXY"])
        exceptions = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces).lowercased()
        }
    }

    package func proxy(for url: URL) -> HTTPProxy? {
        guard let host = url.host?.lowercased(), !Self.isLoopback(host) else { return nil }
        for exception in exceptions where !exception.isEmpty {
            if exception == "*" { return nil }
            let suffix = exception.hasPrefix(".") ? String(exception.dropFirst()) : exception
            if host == suffix || host.hasSuffix("." + suffix) || "\(host):\(url.port ?? -1)" == exception { return nil }
        }
        return url.scheme?.lowercased() == "https" ? secure : plain
    }

    package static func isLoopback(_ host: String) -> Bool {
        let host = host.trimmingCharacters(in: ["[", "]"]).lowercased()
        guard host != "localhost", !host.hasSuffix(".localhost"), host != "::1" else { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// SOCKS proxies are not supported.
    private static func parse(_ text: String) -> HTTPProxy? {
        guard let url = URL(string: text.contains("://") ? text : "http://" + text), let host = url.host,
            url.scheme?.lowercased() == "http"
        else { return nil }
        return HTTPProxy(host: host, port: url.port ?? 80, user: url.user, password: url.password)
    }
}
