import Foundation

/// A validated configuration: every value is present and valid.
struct ResolvedSettings: Sendable {
    /// 24 days: the 32-bit limit.
    static let longestTimeoutMs = Int(Int32.max)
    static let defaultMaxResponseBytes = 16 * 1024 * 1024
    static let defaultFacetPrefix = "/facets"

    let gateway: GatewayAddress
    let timeouts: Timeouts
    /// The full value of `Authorization`.
    let authorization: String?
    let passport: String?
    let maxResponseBytes: Int
    let facetPrefix: String

    init(_ config: RonConfig) throws(SdkConfigError) {
        guard let baseUrl = config.baseUrl else {
            throw SdkConfigError(
                setting: "baseUrl",
                message: "is missing; set it in RonConfig, or RON_SDK_GATEWAY_ADDR in the environment")
        }
        gateway = try GatewayAddress(baseUrl, allowInsecureHttp: config.allowInsecureHttp)
        var timeouts = Timeouts()
        if let ms = config.overallTimeoutMs { timeouts.overallMs = try Self.timeout(ms, setting: "overallTimeoutMs") }
        if let ms = config.connectTimeoutMs { timeouts.connectMs = try Self.timeout(ms, setting: "connectTimeoutMs") }
        if let ms = config.readTimeoutMs { timeouts.readMs = try Self.timeout(ms, setting: "readTimeoutMs") }
        if let ms = config.writeTimeoutMs { timeouts.writeMs = try Self.timeout(ms, setting: "writeTimeoutMs") }
        self.timeouts = timeouts
        authorization = try config.authToken.map { token throws(SdkConfigError) in
            Self.authorization(try Self.credential(token, setting: "authToken"))
        }
        passport = try config.passportToken.map { token throws(SdkConfigError) in
            try Self.credential(token, setting: "passportToken")
        }
        maxResponseBytes = config.maxResponseBytes ?? Self.defaultMaxResponseBytes
        guard maxResponseBytes > 0 else {
            throw SdkConfigError(
                setting: "maxResponseBytes", message: "is \(maxResponseBytes); it has to be 1 at least")
        }
        facetPrefix = try Self.facetPrefix(config.facetPrefix ?? Self.defaultFacetPrefix, gateway: gateway)
    }

    /// The prefix with one slash before each part and none at the end, if it leads to a place below `/app`.
    private static func facetPrefix(_ text: String, gateway: GatewayAddress) throws(SdkConfigError) -> String {
        let parts = text.split(separator: "/")
        guard parts.first != "app" else {
            throw SdkConfigError(
                setting: "facetPrefix", message: "begins with /app, which every path gets anyway; leave it out")
        }
        let prefix = parts.map { "/\($0)" }.joined()
        do {
            _ = try gateway.url(path: "/app\(prefix)", query: [:])
        } catch {
            throw SdkConfigError(setting: "facetPrefix", message: "leads to no facet: \(error.message)")
        }
        return prefix
    }

    /// The number, if it is a valid timeout.
    static func timeout(_ ms: Int, setting: String) throws(SdkConfigError) -> Int {
        guard (1...longestTimeoutMs).contains(ms) else {
            throw SdkConfigError(
                setting: setting, message: "is \(ms); it has to be from 1 to \(longestTimeoutMs) milliseconds")
        }
        return ms
    }

    private static func credential(_ token: String, setting: String) throws(SdkConfigError) -> String {
        guard !token.isEmpty else {
            throw SdkConfigError(setting: setting, message: "is empty; leave it out where there is none")
        }
        guard HeaderText.isValue(token) else {
            throw SdkConfigError(
                setting: setting,
                message:
                    "holds characters that no header may, or spaces or a line break at an end; read it without them")
        }
        return token
    }

    /// A stock micronode uses the scheme `Macro`, others `Bearer`: a token may include its scheme, and is a bearer
    /// token otherwise.
    private static func authorization(_ token: String) -> String {
        let words = token.split(separator: " ", maxSplits: 1)
        return words.count == 2 && HeaderText.isName(String(words[0])) ? token : "Bearer \(token)"
    }
}
