import Foundation

/// The base URL, prepared as the prefix of every call's URL.
struct GatewayAddress: Sendable {
    /// Scheme, host, port and path, ending in `/app`.
    let appRoot: String

    /// - Throws: ``SdkConfigError`` for any URL that is not a gateway's; messages contain no user info.
    init(_ url: URL, allowInsecureHttp: Bool) throws(SdkConfigError) {
        let setting = "baseUrl"
        try Self.check(url, setting: setting)
        let isSecure = url.scheme?.lowercased() == "https"
        guard isSecure || allowInsecureHttp else {
            throw SdkConfigError(
                setting: setting,
                message: "is http://, which anybody on the way can read; use https://, or set allowInsecureHttp while "
                    + "developing on one machine")
        }
        var text = url.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        let path = url.path(percentEncoded: true)
        let endsInApp = path.split(separator: "/", omittingEmptySubsequences: true).last == "app"
        appRoot = endsInApp ? text : text + "/app"
    }

    /// The rules for every gateway, insecure or not.
    static func check(_ url: URL, setting: String) throws(SdkConfigError) {
        guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw SdkConfigError(
                setting: setting, message: "does not begin with https://; write it as https://node.example.com")
        }
        guard let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw SdkConfigError(setting: setting, message: "names no host; write it as https://node.example.com")
        }
        guard url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil else {
            throw SdkConfigError(
                setting: setting,
                message:
                    "holds a user or password, which would be shown where the URL is; give credentials as authToken")
        }
        guard url.query(percentEncoded: true) == nil, url.fragment(percentEncoded: true) == nil else {
            throw SdkConfigError(
                setting: setting, message: "holds a query or fragment; leave out what begins with ? or #")
        }
        if let port = url.port, !(1...65_535).contains(port) {
            throw SdkConfigError(setting: setting, message: "has the port \(port); ports go from 1 to 65535")
        }
        let segments = url.path(percentEncoded: false).split(separator: "/")
        guard !segments.contains(".."), !segments.contains(".") else {
            throw SdkConfigError(setting: setting, message: "holds . or .. in its path; write the path that is meant")
        }
    }
}
