import Glibc
import Platform

extension SealedVaultFolder {
    /// No names where the folder is not there.
    func namesIfThere(_ relative: BytePath) throws -> [BytePath] {
        do {
            return try names(in: relative)
        } catch let fault as Fault where fault.errno == ENOENT {
            return []
        }
    }

    /// Unlinks the files in a folder, and the folder if it is empty then.
    func removeAll(in relative: BytePath) throws {
        guard try status(relative)?.kind == .directory else { return }
        for name in try names(in: relative) where try status(relative.appending(name))?.kind == .file {
            try remove(relative.appending(name))
        }
        try removeDirectory(relative)
    }
}
