import Foundation
import Glibc
import OwnFiles
import Platform
import Synchronization

/// Covers and small pages of comics, cached on disk (docs/design/comic-archives.md, "Thumbnails").
///
/// Supports any comic that has a reader; pictures are decoded in the caged worker, never here.
package final class ThumbnailService: Sendable {
    private let factory: ArchiveReaderFactory
    private let worker: ThumbnailWorker
    private let cache: ThumbnailCache
    private let complain: @Sendable (any Error) -> Void
    private let pool = BlockingPool("thumbnail.cache")
    private let known = Mutex<[Fingerprint: ContentHash]>([:])

    /// - Parameter complain: called if the cache cannot be read or written; thumbnails are then made each time.
    package init(
        worker: ArchiveWorker, cache: ThumbnailCache, complain: @escaping @Sendable (any Error) -> Void
    ) {
        self.worker = ThumbnailWorker(worker)
        self.cache = cache
        self.complain = complain
        factory = ArchiveReaderFactory(worker: worker)
    }

    /// One thumbnail of the comic at `path`, a JPEG, from the cache or newly made.
    ///
    /// - Parameters:
    ///   - content: the file's SHA-256 if the caller knows it; otherwise reading the file for it takes most of the
    ///     time.
    ///   - stated: the pages as the metadata describe them, which may name the cover.
    /// - Throws: `ComicError`, `.reader(.pageLoadFailed)` if there is no such page; `Fault` if libvips is not installed,
    ///   or a page of a folder cannot be read.
    package func thumbnail(
        of path: BytePath, page: ThumbnailKey.Page = .cover, size: ThumbnailSize = .cover, content: ContentHash? = nil,
        stated: [ComicPageInfo] = []
    ) async throws -> Data {
        let comic = try await identify(path, content)
        // A cover named by the metadata is cached by its index: another program may name another.
        let front = page == .cover ? stated.first { $0.type == .frontCover }?.image : nil
        let key = ThumbnailKey(content: comic.content, page: front.map { .index($0) } ?? page, size: size)
        if let found = try await find(key) { return Data(found) }
        let (reader, entries) = try await pages(path)
        let index: Int? =
            switch page {
            case .cover: PageLayout.cover(of: entries.map { BytePath.unescape($0.path) }, stated: stated)
            case .index(let index): index
            }
        guard let index, entries.indices.contains(index) else {
            throw ComicError.reader(.pageLoadFailed(index: index ?? 0))
        }
        let outcome = try await make(entries[index], reader, size)
        try await pool.run { keep(outcome, key, of: comic) }
        switch outcome {
        case .made(let jpeg): return Data(jpeg)
        case .failed(let message):
            let cause = Fault(.refused, "no thumbnail of page \(index + 1): \(message)", path: path)
            throw ComicError.archive(.extractionFailed(underlying: cause))
        }
    }

    // MARK: Making

    private func pages(_ path: BytePath) async throws -> (any ArchiveReader, [ArchiveEntry]) {
        let reader = try await factory.reader(for: path)
        return (reader, try await reader.listEntries())
    }

    private func make(
        _ entry: ArchiveEntry, _ reader: any ArchiveReader, _ box: ThumbnailSize
    ) async throws -> ThumbnailOutcome {
        if reader is WorkerArchiveReader {
            let result = Mutex<ThumbnailOutcome>(.failed("nothing was made of it"))
            try await worker.shrink(archive: reader.archive, positions: [entry.position], to: box) { _, outcome in
                result.withLock { $0 = outcome }
            }
            return result.withLock { $0 }
        }
        // A page of a folder, or of a format that another program reads, must be extracted first.
        let folder = try await pool.run { try PrivateFolder("thumbnails", in: BytePath(NSTemporaryDirectory())) }
        do {
            let page = try await reader.extractEntry(entry, into: folder.path)
            let picture = try await pool.run { try Descriptor(BytePath(page.path)) }
            let outcome = try await worker.shrink(picture: picture, to: box)
            try await pool.run { try folder.remove() }
            return outcome
        } catch {
            // Report the original error; leftovers are removed next time.
            try? await pool.run { try folder.remove() }
            throw error
        }
    }

    // MARK: Keeping

    private struct Comic {
        let path: BytePath
        let content: ContentHash
        /// As of when its content was read; nil for a folder.
        let fingerprint: Fingerprint?
    }

    private func identify(_ path: BytePath, _ content: ContentHash?) async throws -> Comic {
        try await pool.run {
            guard let status = try FileStatus.of(path) else {
                throw ComicError.fileSystem(.fileNotFound(path))
            }
            if status.kind == .directory {
                return Comic(path: path, content: try Self.content(ofFolder: path), fingerprint: nil)
            }
            let fingerprint = status.fingerprint
            if let content { return Comic(path: path, content: content, fingerprint: fingerprint) }
            if let content = known.withLock({ $0[fingerprint] }) {
                return Comic(path: path, content: content, fingerprint: fingerprint)
            }
            let file = try Descriptor(path)
            let content = try ContentHash.of(file)
            guard try file.status().fingerprint == fingerprint else {
                throw Fault(.superseded, "\(path) was changed while it was read; try again", path: path)
            }
            known.withLock {
                if $0.count >= 1000 { $0 = [:] }
                $0[fingerprint] = content
            }
            return Comic(path: path, content: content, fingerprint: fingerprint)
        }
    }

    /// A hash over the names, sizes and times of a folder's pictures, in place of their content.
    private static func content(ofFolder folder: BytePath) throws -> ContentHash {
        var hasher = StreamingHash()
        var folders: [BytePath] = [""]
        var count = 0
        while let next = folders.popLast() {
            for name in try listDirectory(folder.appending(next)).map(\.name).sorted(by: Self.precedes) {
                let path = next.appending(name: name)
                guard let status = try FileStatus.of(folder.appending(path)) else { continue }
                if status.kind == .directory, name.first != UInt8(ascii: ".") { folders.append(path) }
                guard status.kind == .file, PageRules.skip(path.bytes) == nil else { continue }
                count += 1
                guard count <= ArchiveLimits.maxEntryCount else { break }
                let print = status.fingerprint
                hasher.update(path.bytes + Array("\u{0} \(print.inode) \(print.size) \(print.modified)\n".utf8))
            }
        }
        return hasher.finish()
    }

    private static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }

    private func find(_ key: ThumbnailKey) async throws -> [UInt8]? {
        try await pool.run {
            do {
                return try cache.find(key)
            } catch {
                complain(error)
                return nil
            }
        }
    }

    /// Not if the comic has changed since: the picture would belong to another content. Blocks.
    private func keep(_ outcome: ThumbnailOutcome, _ key: ThumbnailKey, of comic: Comic) {
        guard case .made(let jpeg) = outcome else { return }
        do {
            if let known = comic.fingerprint, try FileStatus.of(comic.path)?.fingerprint != known { return }
            try cache.keep(jpeg, for: key)
        } catch {
            complain(error)
        }
    }
}
