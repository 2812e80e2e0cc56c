extension Arguments {
    /// The names of a `.templateMap`, in the order of the file.
    package func mapNames(_ name: String) -> [String] {
        guard case .map(let entries)? = all[name] else { return [] }
        return entries.map(\.name)
    }

    /// Of a `.templateList` the texts that hold no value: what the rule alone says.
    package func fixedTexts(_ name: String) throws -> [String] {
        let context = TemplateContext(values: [:], timeZone: timeZone)
        return try templates(name).filter(\.references.isEmpty).map { try $0.rendered(context) }
    }
}
