import Platform

/// The settings in force, as `tk config show` prints them.
package enum ConfigurationOutput {
    /// - Parameters:
    ///   - keyOrigin: the source of the provider's key; nil if there is none.
    ///   - mutedRules: rules that the user's answers have muted.
    package static func text(
        _ configuration: TKConfiguration, keyOrigin: String?, mutedRules: Set<String>, _ style: TerminalStyle
    ) -> String {
        var rows = ConfigurationKey.allCases.map { key -> [String] in
            guard let setting = setting(key, configuration) else { return [key.rawValue, "(not set)", key.help] }
            return [key.rawValue, Printable.line(setting.value), "from " + Printable.line(setting.source.description)]
        }
        let missing =
            configuration.usesOwnModel
            ? "\(configuration.provider) needs none" : "set it with `tk config set api_key --stdin`"
        rows.append([
            ConfigurationKey.apiKey, keyOrigin == nil ? "(not set)" : "(hidden)",
            keyOrigin.map { "from \($0)" } ?? missing,
        ])
        if !mutedRules.isEmpty {
            rows.append([
                "muted_rules", mutedRules.sorted().joined(separator: ","),
                "always skipped in --interactive; `tk config unmute RULE`",
            ])
        }
        return TerminalStyle.table(rows).joined(separator: "\n") + "\n"
    }

    package static func json(
        _ configuration: TKConfiguration, keyOrigin: String?, mutedRules: Set<String>
    ) -> String {
        let settings = ConfigurationKey.allCases.map { key -> (String, JSON) in
            let setting = setting(key, configuration)
            return (
                key.rawValue,
                ["value": .optional(setting?.value), "source": .optional(setting?.source.description)]
            )
        }
        return CatalogueOutput.document([
            "settings": .object(settings),
            ConfigurationKey.apiKey: [
                "provider": .string(configuration.provider), "present": .bool(keyOrigin != nil),
                "source": .optional(keyOrigin),
            ], "muted_rules": .strings(mutedRules.sorted()),
        ])
    }

    /// The value in force; an unset `fallback` follows from the provider.
    private static func setting(
        _ key: ConfigurationKey, _ configuration: TKConfiguration
    ) -> TKConfiguration.Setting? {
        if let found = configuration.settings[key] { return found }
        return key == .fallback ? .init(value: configuration.fallback.rawValue, source: .builtIn) : nil
    }
}
