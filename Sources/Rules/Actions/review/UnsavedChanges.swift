import Glibc
import Platform

/// What editors leave beside a file while it is open, and whether they say that it has changes that are not saved.
package enum UnsavedChanges {
    /// The first file beside `path` by which an editor says so, or may mean so.
    ///
    /// vim's swap file and nano's lock tell it themselves, in their 1,008th byte; emacs' lock is there only as long as
    /// there are such changes; Word's and LibreOffice's locks do not tell, and count. Blocks.
    package static func sign(beside path: BytePath) throws -> BytePath? {
        for suffix in ["swp", "swo", "swn"] {
            let swap = neighbour(path, ".", ".\(suffix)")
            if try FileStatus.of(swap) != nil, try saysUnsaved(swap) { return swap }
        }
        for lock in [neighbour(path, ".#", ""), neighbour(path, "~$", ""), neighbour(path, ".~lock.", "#")]
        where try FileStatus.of(lock) != nil {
            return lock
        }
        return nil
    }

    private static func neighbour(_ path: BytePath, _ before: String, _ after: String) -> BytePath {
        path.parent.appending(name: Array(before.utf8) + path.name + Array(after.utf8))
    }

    /// Where both editors keep their flag, and what it is while there are changes.
    private static let flag = 1007
    private static let unsaved: UInt8 = 0x55

    private static func saysUnsaved(_ swap: BytePath) throws -> Bool {
        let head: [UInt8]
        do {
            head = try Descriptor(swap).read(at: 0, count: flag + 1)
        } catch let fault as Fault where fault.errno == ENOENT {
            return false
        } catch let fault as Fault where fault.errno == EACCES || fault.errno == ELOOP {
            return true
        }
        guard head.count > flag, head.starts(with: Array("b0".utf8)) else { return true }
        return head[flag] == unsaved
    }
}
