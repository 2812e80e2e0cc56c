extension Arguments {
    /// The names in a `.templateMap`, in file order.
    package func mapNames(_ name: String) -> [String] {
        guard case .map(let entries)? = all[name] else { return [] }
        return entries.map(\.name)
    }

    /// The texts in a `.templateList` that use no values, and so are fixed by the rule.
    package func fixedTexts(_ name: String) throws -> [String] {
        let context = TemplateContext(values: [:], timeZone: timeZone)
        return try templates(name).filter(\.references.isEmpty).map { try $0.rendered(context) }
    }
}
