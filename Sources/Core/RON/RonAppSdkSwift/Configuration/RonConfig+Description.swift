/// The printed form of a configuration, so that printing it, or a value that contains it, reveals no token.
extension RonConfig: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private var shown: [(label: String?, value: Any)] {
        [
            ("baseUrl", baseUrl.map(Redaction.describe) ?? "none"),
            ("authToken", authToken == nil ? "none" : Redaction.mark),
            ("passportToken", passportToken == nil ? "none" : Redaction.mark),
            ("allowInsecureHttp", allowInsecureHttp), ("debug", debug),
        ]
    }

    /// The gateway, and whether there are tokens.
    public var description: String {
        "RonConfig(\(shown.map { "\($0.label ?? ""): \($0.value)" }.joined(separator: ", ")))"
    }

    /// Same as ``description``.
    public var debugDescription: String { description }

    /// Same as ``description``, for `dump`.
    public var customMirror: Mirror { Mirror(self, children: shown, displayStyle: .struct) }
}
