import NoteActions
import OwnFiles
import Platform
import TKCore

/// The folders whose drafts an agent may see. Nothing outside them is opened, also not by way of a link. Everything here
/// blocks.
struct DraftShelf: Sendable {
    /// Absolute, without links.
    private(set) var folders: [BytePath]

    /// - Throws: `Fault` (`.usage`) for what is not a folder.
    init(_ folders: [BytePath]) throws {
        self.folders = try folders.map { folder -> BytePath in
            guard let real = folder.real, try FileStatus.of(real)?.kind == .directory else {
                throw Fault(.usage, "\(folder) is not a folder; name the folders with the drafts", path: folder)
            }
            return real
        }
    }

    /// Also these folders; what is none, or gone, is left out.
    func adding(_ others: [BytePath]) throws -> DraftShelf {
        var shelf = self
        for folder in others {
            guard let real = folder.real, !folders.contains(real), try FileStatus.of(real)?.kind == .directory else {
                continue
            }
            shelf.folders.append(real)
        }
        return shelf
    }

    /// A draft by the name that ``name(of:)`` gives it, or by its absolute path.
    ///
    /// - Throws: `Fault` (`.refused`), in the same words for a file outside the folders and for none.
    func draft(_ given: BytePath) throws -> BytePath {
        let paths = given.isAbsolute ? [given] : folders.map { $0.appending(given) }
        let found = Set(paths.compactMap(\.real).filter(isInside))
        guard let path = found.first else {
            throw Fault(.refused, "there is no draft \(given); list_drafts names those that there are")
        }
        guard found.count == 1 else {
            throw Fault(.refused, "\(given) is in several folders; give the absolute path")
        }
        guard try FileStatus.of(path)?.kind == .file, try isDraft(path) else {
            throw Fault(.refused, "\(given) is not a draft; list_drafts names those that there are")
        }
        if try SidecarMark.stands(in: path) {
            throw Fault(.refused, "\(given) is the sidecar of a review; read its draft, which has the same findings")
        }
        return path
    }

    /// Relative to the folder if there is only one.
    func name(of path: BytePath) -> String {
        (folders.count == 1 ? path.relative(to: folders[0]) ?? path : path).description
    }

    /// Calls `body` for each draft, folder by folder.
    ///
    /// - Returns: what could not be read.
    func forEach(_ body: (DraftFile) throws -> Void) throws -> [String] {
        var seen: Set<BytePath> = []
        return try folders.flatMap { folder -> [String] in
            let walk = DraftWalk(folder)
            try walk.forEach { draft in
                if seen.insert(draft.path).inserted { try body(draft) }
            }
            return walk.problems
        }
    }

    private func isInside(_ path: BytePath) -> Bool {
        folders.contains { folder in
            guard let rest = path.relative(to: folder), !rest.isEmpty else { return false }
            return !rest.components.contains { $0.first == UInt8(ascii: ".") }
        }
    }

    /// By its name, or because it is reviewed.
    private func isDraft(_ path: BytePath) throws -> Bool {
        if DraftWalk.isDraft(path) { return true }
        return try FileStatus.of(ReviewFiles(draft: path).state)?.kind == .file
    }
}
