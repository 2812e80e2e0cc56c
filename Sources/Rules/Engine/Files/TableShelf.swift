import Platform

/// Reads the tables that rules look values up in, each once for all rules. For one thread.
final class TableShelf {
    private let files: RuleFileReader
    private var read: [BytePath: LookupTable?] = [:]
    /// What is wrong with tables.
    private(set) var diagnostics: [Diagnostic] = []

    init(_ files: RuleFileReader) { self.files = files }

    /// The table in a file; nil where something is wrong with it, which is among the diagnostics then. Blocks.
    ///
    /// - Throws: what reading the file does.
    func table(_ path: BytePath) throws -> LookupTable? {
        if let known = read[path] { return known }
        let bytes = try files.read(path)
        do throws(LookupTable.Fault) {
            let table = try LookupTable(bytes, isTabbed: path.nameText.hasSuffix(".tsv"))
            read[path] = .some(table)
            return table
        } catch {
            diagnostics.append(
                Diagnostic(file: path.description, at: error.position, error.message, hint: error.hint))
            read[path] = .some(nil)
            return nil
        }
    }
}

/// Where the tables of one rule file lie: beside it.
struct TableFolder {
    let folder: BytePath
    let shelf: TableShelf
}
