import Foundation

extension RonConfig {
    /// A configuration from code and environment: `overrides` take precedence over variables, and variables over
    /// defaults.
    ///
    /// The variables are `RON_SDK_GATEWAY_ADDR`, `RON_SDK_OVERALL_TIMEOUT_MS`, `RON_SDK_CONNECT_TIMEOUT_MS`,
    /// `RON_SDK_READ_TIMEOUT_MS` and `RON_SDK_WRITE_TIMEOUT_MS`; an empty one counts as absent, and an overridden one
    /// is not read. Insecure HTTP can be allowed in code only.
    ///
    /// - Parameters:
    ///   - environment: The variables.
    ///   - overrides: The settings from code.
    /// - Returns: The configuration; its base URL is nil if neither source sets one.
    /// - Throws: ``SdkConfigError``, which names the malformed variable.
    public static func fromEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment, overrides: RonConfig = RonConfig()
    ) throws(SdkConfigError) -> RonConfig {
        var config = overrides
        let variables = EnvironmentVariables(environment)
        if config.baseUrl == nil { config.baseUrl = try variables.url("RON_SDK_GATEWAY_ADDR") }
        if config.overallTimeoutMs == nil {
            config.overallTimeoutMs = try variables.milliseconds("RON_SDK_OVERALL_TIMEOUT_MS")
        }
        if config.connectTimeoutMs == nil {
            config.connectTimeoutMs = try variables.milliseconds("RON_SDK_CONNECT_TIMEOUT_MS")
        }
        if config.readTimeoutMs == nil { config.readTimeoutMs = try variables.milliseconds("RON_SDK_READ_TIMEOUT_MS") }
        if config.writeTimeoutMs == nil {
            config.writeTimeoutMs = try variables.milliseconds("RON_SDK_WRITE_TIMEOUT_MS")
        }
        return config
    }
}

/// Reads single variables; messages do not repeat a URL, which may contain a password.
private struct EnvironmentVariables {
    private let variables: [String: String]

    init(_ variables: [String: String]) { self.variables = variables }

    private func value(_ name: String) -> String? {
        guard let value = variables[name]?.trimmingCharacters(in: .whitespacesAndNewlines), !value.isEmpty else {
            return nil
        }
        return value
    }

    func url(_ name: String) throws(SdkConfigError) -> URL? {
        guard let value = value(name) else { return nil }
        guard let url = URL(string: value, encodingInvalidCharacters: false) else {
            throw SdkConfigError(setting: name, message: "is no URL; write it as https://node.example.com")
        }
        try GatewayAddress.check(url, setting: name)
        return url
    }

    func milliseconds(_ name: String) throws(SdkConfigError) -> Int? {
        guard let value = value(name) else { return nil }
        guard let number = Int(value) else {
            throw SdkConfigError(
                setting: name, message: "\"\(value.prefix(40))\" is no whole number of milliseconds, as 10000 is")
        }
        return try ResolvedSettings.timeout(number, setting: name)
    }
}
