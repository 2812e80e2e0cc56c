/// Checks when rules are loaded whether a template's lookup can return anything.
struct LookupCheck {
    /// The rule's tables; nil if they were not read.
    let tables: [String: LookupTable]?
    /// Names of the values known when a job is planned; `*` means any.
    let planned: Set<String>

    /// The error in the lookup `name` with a hint, or nil.
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
