import Glibc
import Platform

/// Reads files configured by an administrator or user, such as rule files, following all links. Blocks.
package enum ConfigurationFiles {
    /// The names in a folder, which may itself be a link; empty if it does not exist.
    package static func names(in folder: BytePath) throws -> [[UInt8]] {
        let opened: Descriptor
        do {
            opened = try Descriptor(folder, O_RDONLY | O_DIRECTORY, follow: true)
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
            return []
        }
        return try Folder(opened).entries().map(\.name)
    }

    /// The bytes of a file; empty if it is a link to /dev/null.
    ///
    /// - Parameter limit: in bytes; a larger file is refused.
    package static func read(_ path: BytePath, limit: Int64) throws -> [UInt8] {
        let file = try Descriptor(path, follow: true)
        if try isNothing(file) { return [] }
        guard try file.status().kind == .file else {
            throw Fault(.usage, "\(path) is not a file, and nothing else is read", path: path)
        }
        return try file.readAll(limit: limit)
    }

    private static func isNothing(_ file: Descriptor) throws -> Bool {
        var nothing = stat()
        guard stat("/dev/null", &nothing) == 0 else { return false }
        var found = stat()
        guard fstat(file.raw, &found) == 0 else { throw Fault.system("read the status of", file.path) }
        return found.st_mode & S_IFMT == S_IFCHR && found.st_rdev == nothing.st_rdev
    }
}
