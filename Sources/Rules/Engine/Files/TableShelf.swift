import Platform

/// Reads lookup tables, each once for all rules. Not thread-safe.
final class TableShelf {
    private let files: RuleFileReader
    private let others: BytePath?
    private var read: [BytePath: LookupTable?] = [:]
    /// Errors in tables.
    private(set) var diagnostics: [Diagnostic] = []
    /// How often an invalid table was requested.
    private(set) var refusals = 0

    /// - Parameter others: the folder that someone else maintains: errors in its tables are warnings.
    init(_ files: RuleFileReader, others: BytePath? = nil) { (self.files, self.others) = (files, others) }

    /// The table in a file; nil if it is invalid, with the error added to the diagnostics. Blocks.
    ///
    /// - Throws: errors of reading the file.
    func table(_ path: BytePath) throws -> LookupTable? {
        if let known = read[path] {
            if known == nil { refusals += 1 }
            return known
        }
        let bytes = try files.read(path)
        do throws(LookupTable.Fault) {
            let table = try LookupTable(bytes, isTabbed: path.nameText.hasSuffix(".tsv"))
            read[path] = .some(table)
            return table
        } catch {
            let complaint = Diagnostic(
                file: path.description, at: error.position, error.message, hint: error.hint)
            diagnostics.append(
                path.parent == others
                    ? complaint.warning(
                        "rule files that use this table are ignored until the machine's administrator fixes it")
                    : complaint)
            refusals += 1
            read[path] = .some(nil)
            return nil
        }
    }
}

/// The folder with the tables of a rule file: the one it is in.
struct TableFolder {
    let folder: BytePath
    let shelf: TableShelf
}
