import Foundation
import Glibc
import Platform

/// The trash of the freedesktop.org specification 1.0: the home trash, or that of the file's own file system. Blocks.
package struct TrashCan: Sendable {
    let home: BytePath

    /// - Parameter home: the user's home trash (`$XDG_DATA_HOME/Trash`).
    package init(home: BytePath) { self.home = home }

    /// Where a file would go, which is the same each time for one `mark`.
    func slot(for path: BytePath, mark: some StringProtocol) throws -> BytePath {
        let (stem, suffix) = path.stemAndExtension
        let tail = Array(".\(mark)".utf8) + (suffix.map { [UInt8(ascii: ".")] + $0 } ?? [])
        let name = Array(stem.prefix(max(1, 240 - tail.count))) + tail
        return try root(for: path).appending("files").appending(name: name)
    }

    /// Puts a file there: first the information, then the file, so that no file lies in the trash without a past. Where
    /// the same content of that name lies there already, the next name is taken.
    ///
    /// - Returns: where it lies.
    package func put(_ path: BytePath, expecting hash: ContentHash, mark: some StringProtocol) throws -> Mover.Placed {
        let slot = try slot(for: path, mark: mark)
        let root = slot.parent.parent
        try Durable.makeDirectory(root.appending("files"), mode: 0o700)
        try Durable.makeDirectory(root.appending("info"), mode: 0o700)
        for free in Mover.alternatives(slot).prefix(100) where try FileStatus.of(free) == nil {
            // Written in place: a crash leaves at most the past of a file that is not there.
            let past = try Descriptor(info(of: free), O_WRONLY | O_CREAT | O_TRUNC)
            try past.write(Array(information(path, root).utf8), at: 0)
            try past.sync()
            do {
                return try Mover.move(path, expecting: hash, to: [free]) { _, _ in }
            } catch {
                if try FileStatus.of(free) == nil { try forget(free) }
                throw error
            }
        }
        throw Fault(.failed, "the trash \(root) holds too many files of the name \(slot.nameText)", path: path)
    }

    /// Removes the information about a file that has been taken out again.
    func forget(_ slot: BytePath) throws { try Durable.remove(info(of: slot)) }

    private func info(of slot: BytePath) -> BytePath {
        slot.parent.parent.appending("info").appending(name: slot.name + Array(".trashinfo".utf8))
    }

    /// The home trash where it is on the same file system, else `.Trash-<uid>` at the top of the file's own.
    private func root(for path: BytePath) throws -> BytePath {
        guard let file = try FileStatus.of(path.parent) else { return home }
        var existing = home
        while !existing.isEmpty, try FileStatus.of(existing) == nil { existing = existing.parent }
        if try FileStatus.of(existing)?.device == file.device { return home }
        var top = path.parent
        while top != BytePath("/"), try FileStatus.of(top.parent)?.device == file.device { top = top.parent }
        return top.appending(".Trash-\(getuid())")
    }

    private func information(_ path: BytePath, _ root: BytePath) -> String {
        let top = root.parent
        let shown = root == home ? path : path.relative(to: top) ?? path
        let unreserved = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
        let encoded = shown.bytes.map { byte in
            unreserved.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss"
        return "[Trash Info]\nPath=\(encoded)\nDeletionDate=\(formatter.string(from: Date()))\n"
    }
}

extension ActionServices {
    var trash: TrashCan { TrashCan(home: homeTrash) }
}
