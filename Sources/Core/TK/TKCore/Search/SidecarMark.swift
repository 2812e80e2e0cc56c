import Glibc
import OwnFiles
import Platform

/// The first line of a review's sidecar, which distinguishes a sidecar from a draft even if it was renamed.
package enum SidecarMark {
    private static let opening = "<!-- steward review 1 of "
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Parameter draft: the draft's name, escaped so that it does not end the comment.
    package static func line(_ draft: String) -> String { "\(opening)\(draft) -->" }

    /// Whether a text begins with the mark of any draft.
    package static func begins(_ text: some Collection<UInt8>) -> Bool {
        let hasByteOrderMark = text.starts(with: byteOrderMark)
        return text.dropFirst(hasByteOrderMark ? byteOrderMark.count : 0).starts(with: opening.utf8)
    }

    /// Whether an open file begins with it. Blocks.
    package static func begins(_ file: Descriptor) throws -> Bool {
        begins(try file.read(at: 0, count: byteOrderMark.count + opening.utf8.count))
    }

    /// Whether the file at this path is a sidecar; false unless it is a regular file. Blocks.
    package static func stands(in path: BytePath) throws -> Bool {
        guard try FileStatus.of(path)?.kind == .file else { return false }
        do {
            return try begins(Descriptor(path))
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ELOOP {
            return false
        }
    }
}
