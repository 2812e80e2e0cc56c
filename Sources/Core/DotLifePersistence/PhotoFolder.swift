import DotLifeDomain
import Foundation
import Glibc
import OwnFiles
import Platform

/// The store's photos: files named by their experience's id. Everything here blocks.
///
/// A file without a row is what a crash between copy and commit left: it is kept, and found again by its name.
struct PhotoFolder: Sendable {
    let path: BytePath

    init(in store: BytePath) throws {
        path = store.appending("photos")
        try Durable.makeDirectory(path, mode: 0o700)
    }

    /// Runs `body` while no other process copies into or removes from the folder.
    func exclusively<R>(_ body: () throws -> R) throws -> R {
        let folder = try Descriptor(path, O_RDONLY | O_DIRECTORY)
        while flock(folder.raw, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Fault.system("lock the folder", path) }
        }
        return try body()
    }

    /// What became of a photo that was asked to be in the folder.
    struct Stored {
        let name: String
        /// False where a crash had left the very same bytes under this name.
        let isNew: Bool
    }

    /// Copies the photo in, durably, under the name of `id`. The same bytes already there under it are used.
    ///
    /// - Parameter opened: the source's file, where it is open already; what stands at its path by now is no matter then.
    /// - Throws: `Fault`; `.failed` where `expected` is given and the source holds something else.
    func store(
        _ source: PhotoSource, _ opened: Descriptor? = nil, for id: UUID, expecting expected: ContentHash?
    ) throws -> Stored {
        let stem = Self.stem(id)
        let staged: BytePath
        let hash: ContentHash
        let format: PictureFormat?
        switch source {
        case .data(let data):
            format = PictureFormat.of(data)
            hash = ContentHash(of: data)
            staged = try Durable.stage(Array(data), for: path.appending(stem), mode: 0o600)
        case .file(let bytes):
            let file = try opened ?? Descriptor(BytePath(bytes: bytes))
            guard try file.status().kind == .file else {
                throw Fault(
                    .refused, "\(file.path) is no regular file; only such a one can be a photo", path: file.path)
            }
            format = PictureFormat.of(try file.read(at: 0, count: PictureFormat.headLength))
            let copy = try Durable.stageCopy(of: file, for: Spot(own: path.appending(stem)), keepsOwner: false)
            (staged, hash) = (copy.spot.path, copy.hash)
        }
        var isPlaced = false
        defer { if !isPlaced { try? Durable.remove(staged) } }
        if let expected, hash != expected {
            throw Fault(
                .failed, "the photo \(describe(source)) is not the one that was looked at: it has changed since")
        }
        let ending = format?.fileExtension ?? "bin"
        for attempt in 1...1000 {
            let name = attempt == 1 ? "\(stem).\(ending)" : "\(stem)-\(attempt).\(ending)"
            if try Durable.renameNew(staged, to: path.appending(name)) {
                isPlaced = true
                return Stored(name: name, isNew: true)
            }
            if try ContentHash.ofFile(path.appending(name)) == hash { return Stored(name: name, isNew: false) }
        }
        throw Fault(.failed, "\(path) holds too many files of the name \(stem); look at what they are", path: path)
    }

    /// Removes a file that the store named, durably; one that is gone is fine.
    func remove(_ name: String) throws {
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            throw Fault(
                .failed, "`\(name)` is no name that a photo of the store can have; nothing was removed", path: path)
        }
        try Durable.remove(path.appending(name))
        try Durable.syncDirectory(path)
    }

    /// Removes what a removal or copy that was cut off left under the name of `id`.
    ///
    /// - Returns: whether there was such a file.
    func removeLeftovers(of id: UUID) throws -> Bool {
        var found = false
        for ending in PictureFormat.allCases.map(\.fileExtension) + ["bin"] {
            let name = "\(Self.stem(id)).\(ending)"
            guard try FileStatus.of(path.appending(name)) != nil else { continue }
            try remove(name)
            found = true
        }
        return found
    }

    /// Removes unfinished copies: the temporary names of a process that died. Only under ``exclusively(_:)``.
    func removeUnfinishedCopies() throws {
        for entry in try listDirectory(path) where entry.name.starts(with: Array(".steward-".utf8)) {
            try Durable.remove(path.appending(name: entry.name))
        }
    }

    private static func stem(_ id: UUID) -> String { id.uuidString.lowercased() }

    private func describe(_ source: PhotoSource) -> String {
        switch source {
        case .data(let data): "of \(data.count) bytes"
        case .file(let bytes): BytePath(bytes: bytes).description
        }
    }
}
