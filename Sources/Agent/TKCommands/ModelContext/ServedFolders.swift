import OwnFiles
import Platform
import TKCore

/// The folders that an agent may see: those of the command line and the client's roots, or the working folder if there
/// are none.
struct ServedFolders: Sendable {
    private let named: DraftShelf
    private let working: DraftShelf?
    /// The client's.
    var roots: [BytePath] = []

    /// Blocks.
    ///
    /// - Throws: `Fault` (`.usage`) for what is not a folder.
    init(named folders: [BytePath]) throws {
        named = try DraftShelf(folders)
        working = folders.isEmpty ? try DraftShelf([BytePath.workingFolder]) : nil
    }

    /// Blocks.
    func shelf() throws -> DraftShelf {
        let all = try named.adding(roots)
        return all.folders.isEmpty ? working ?? all : all
    }
}
