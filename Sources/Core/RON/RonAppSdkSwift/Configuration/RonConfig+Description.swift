/// What is printed of a configuration, so that whoever prints one, or what holds one, prints no token.
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

    /// As ``description``.
    public var debugDescription: String { description }

    /// As ``description``, for `dump`.
    public var customMirror: Mirror { Mirror(self, children: shown, displayStyle: .struct) }
}
