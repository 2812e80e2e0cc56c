import Glibc
import Platform

extension SealedVaultFolder {
    /// An empty list if the folder is missing.
    func namesIfThere(_ relative: BytePath) throws -> [BytePath] {
        do {
            return try names(in: relative)
        } catch let fault as Fault where fault.errno == ENOENT {
            return []
        }
    }

    /// Unlinks the files in a folder, then the folder if it is empty.
    func removeAll(in relative: BytePath) throws {
        guard try status(relative)?.kind == .directory else { return }
        for name in try names(in: relative) where try status(relative.appending(name))?.kind == .file {
            try remove(relative.appending(name))
        }
        try removeDirectory(relative)
    }
}
