/// Whether a look-up of a template can give anything, found out when rules are loaded.
struct LookupCheck {
    /// The rule's tables; nil where they have not been read.
    let tables: [String: LookupTable]?
    /// The names of the values that are known when a job is planned; `*` stands for any.
    let planned: Set<String>

    /// What is wrong with the look-up `name`, and what to do about it; nil if nothing.
    func fault(_ name: LookupName) -> (message: String, hint: String?)? {
        if !name.key.hasPrefix(BuiltInValues.frontPrefix), !planned.contains(name.key) {
            return (
                "a look-up cannot use `\(printable(name.key))` as its key",
                "it is made when the file arrives: use what the file or a condition gives, not what a step provides"
            )
        }
        guard let tables else { return nil }
        guard let table = tables[name.table] else {
            let hint = Suggest.closest(to: name.table, among: tables.keys.sorted()).map { "did you mean `\($0)`?" }
            return (
                "the rule has no table `\(printable(name.table))`", hint ?? "name its file: `values: \(name.table).csv`"
            )
        }
        guard table.columns.contains(name.column) else {
            return (
                "the table `\(name.table)` has no column `\(printable(name.column))`",
                Suggest.hint(for: name.column, among: table.columns)
            )
        }
        return nil
    }
}
