import Platform

/// Reads the tables that rules look values up in, each once for all rules. For one thread.
final class TableShelf {
    private let files: RuleFileReader
    private let others: BytePath?
    private var read: [BytePath: LookupTable?] = [:]
    /// What is wrong with tables.
    private(set) var diagnostics: [Diagnostic] = []
    /// How often a table was wanted with which something is wrong.
    private(set) var refusals = 0

    /// - Parameter others: the folder whose tables are another's to mend: a warning says what is wrong with one.
    init(_ files: RuleFileReader, others: BytePath? = nil) { (self.files, self.others) = (files, others) }

    /// The table in a file; nil where something is wrong with it, which is among the diagnostics then. Blocks.
    ///
    /// - Throws: what reading the file does.
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
                        "no rule file that uses this table is taken until the machine's administrator mends it")
                    : complaint)
            refusals += 1
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
