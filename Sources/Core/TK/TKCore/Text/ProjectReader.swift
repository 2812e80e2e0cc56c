import Glibc
import OwnFiles
import Platform

/// How the styles and words of a draft's project are read: by `tk` from their paths, by the agent through the folders
/// that it holds open. Everything here blocks.
package struct ProjectReader: Sendable {
    /// Of the file or folder at a path; nil if there is none, or it may not be read.
    package var status: @Sendable (BytePath) throws -> FileStatus?
    /// The bytes of a regular file. Throws `Fault` with ENOENT if there is none.
    package var read: @Sendable (BytePath) throws -> [UInt8]
    /// The names in a folder; empty if there is none.
    package var names: @Sendable (BytePath) throws -> [[UInt8]]
    /// The topmost folder that is searched.
    package var top: BytePath

    package init(
        top: BytePath, status: @escaping @Sendable (BytePath) throws -> FileStatus?,
        read: @escaping @Sendable (BytePath) throws -> [UInt8],
        names: @escaping @Sendable (BytePath) throws -> [[UInt8]]
    ) {
        (self.top, self.status, self.read, self.names) = (top, status, read, names)
    }

    /// In bytes; a larger file is neither a style nor a list of words.
    package static let limit: Int64 = 4 << 20

    /// By their paths, following links.
    package static let paths = ProjectReader(
        top: "/",
        status: { path in
            do {
                return try Descriptor(path, follow: true).status()
            } catch let fault as Fault where [ENOENT, ENOTDIR, EACCES].contains(fault.errno) {
                return nil
            }
        },
        read: { try ConfigurationFiles.read($0, limit: limit) },
        names: { try ConfigurationFiles.names(in: $0) })
}
