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
    private let library: ComicLibrary
    private let complain: @Sendable (any Error) -> Void
    private let pool = BlockingPool("thumbnail.cache")
    private let known = Mutex<[Fingerprint: ContentHash]>([:])

    /// - Parameters:
    ///   - library: contains the `ComicFile`s passed to ``thumbnail(for:content:stated:)``.
    ///   - complain: called if the cache cannot be read or written; thumbnails are then made each time.
    package init(
        worker: ArchiveWorker, cache: ThumbnailCache, library: ComicLibrary,
        complain: @escaping @Sendable (any Error) -> Void
    ) {
        self.worker = ThumbnailWorker(worker)
        self.cache = cache
        self.library = library
        self.complain = complain
        factory = ArchiveReaderFactory(worker: worker)
    }

    /// The cover of a file or folder of the library, a JPEG.
    ///
    /// - Parameters:
    ///   - content: the file's SHA-256 if the caller knows it; otherwise reading the file for it takes most of the
    ///     time.
    ///   - stated: the pages as the metadata describe them, which may name the cover.
    /// - Throws: `ComicError`, or `Fault` if libvips is not installed.
    package func thumbnail(
        for file: ComicFile, content: ContentHash? = nil, stated: [ComicPageInfo] = []
    ) async throws -> Data {
        // Refuses a file that a symlink puts outside of the library.
        guard try await library.fileExists(file.path) else {
            throw ComicError.fileSystem(.fileNotFound(file.path))
        }
        return try await thumbnail(of: library.root.appending(file.path), content: content, stated: stated)
    }

    /// One thumbnail of the comic at `path`, from the cache or newly made.
    ///
    /// - Parameter content: as above.
    /// - Throws: as above; `.reader(.pageLoadFailed)` if there is no such page.
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
        let result = Mutex<ThumbnailOutcome>(.failed("nothing was made of it"))
        try await make([entries[index]], reader, size) { _, outcome in
            result.withLock { $0 = outcome }
            self.keep(outcome, key, of: comic)
        }
        switch result.withLock({ $0 }) {
        case .made(let jpeg): return Data(jpeg)
        case .failed(let message):
            let cause = Fault(.refused, "no thumbnail of page \(index + 1): \(message)", path: path)
            throw ComicError.archive(.extractionFailed(underlying: cause))
        }
    }

    /// Thumbnails of many pages, in as few passes over the comic as its format allows; all are in the cache afterwards.
    ///
    /// - Parameters:
    ///   - pages: from 0, in reading order; nil means all. Indices out of range are skipped.
    ///   - progress: called with the number done and the total.
    /// - Returns: the outcome of each page.
    /// - Throws: as above; a page without a thumbnail does not throw.
    package func thumbnails(
        of path: BytePath, pages wanted: [Int]? = nil, size: ThumbnailSize = .page, content: ContentHash? = nil,
        progress: @Sendable (Int, Int) -> Void = { _, _ in }
    ) async throws -> [Int: ThumbnailOutcome] {
        let comic = try await identify(path, content)
        let (reader, entries) = try await pages(path)
        let indices = Set(wanted ?? Array(entries.indices)).intersection(entries.indices).sorted()
        let outcomes = Mutex<[Int: ThumbnailOutcome]>([:])
        var missing: [ArchiveEntry] = []
        for index in indices {
            let key = ThumbnailKey(content: comic.content, page: .index(index), size: size)
            if let found = try await find(key) {
                outcomes.withLock { $0[index] = .made(found) }
            } else {
                missing.append(entries[index])
            }
        }
        progress(indices.count - missing.count, indices.count)
        try await make(missing, reader, size) { entry, outcome in
            let key = ThumbnailKey(content: comic.content, page: .index(entry.index), size: size)
            self.keep(outcome, key, of: comic)
            let count = outcomes.withLock { found in
                found[entry.index] = outcome
                return found.count
            }
            progress(count, indices.count)
        }
        return outcomes.withLock { $0 }
    }

    /// A thumbnail of a picture in memory, a JPEG; not cached.
    ///
    /// - Throws: `ComicError.reader`, or `Fault` if libvips is not installed.
    package func generateThumbnail(from imageData: Data, size: ThumbnailSize) async throws -> Data {
        let picture = Array(imageData)
        switch ImageHeader.examine(Array(picture.prefix(ImageHeader.headLength))) {
        case .unknown, .damaged: throw ComicError.reader(.unsupportedImageFormat)
        case .found(let header) where header.isTooLarge: throw ComicError.reader(.imageTooLarge)
        case .found, .beyond: break
        }
        guard case .made(let jpeg) = try await worker.shrink(pictures: [picture], to: size).first else {
            throw ComicError.reader(.pageLoadFailed(index: 0))
        }
        return Data(jpeg)
    }

    /// Removes every cached thumbnail.
    package func clearCache() async throws { try await pool.run { try cache.clear() } }

    // MARK: Making

    private func pages(_ path: BytePath) async throws -> (any ArchiveReader, [ArchiveEntry]) {
        let reader = try await factory.reader(for: path)
        return (reader, try await reader.listEntries())
    }

    /// - Parameter receive: called once for each entry, on a thread that may block.
    private func make(
        _ entries: [ArchiveEntry], _ reader: any ArchiveReader, _ box: ThumbnailSize,
        receive: @Sendable (ArchiveEntry, ThumbnailOutcome) -> Void
    ) async throws {
        if entries.isEmpty { return }
        if reader is WorkerArchiveReader {
            let byPosition = Dictionary(entries.map { ($0.position, $0) }, uniquingKeysWith: { first, _ in first })
            return try await worker.shrink(archive: reader.archive, positions: byPosition.keys, to: box) {
                if let entry = byPosition[$0] { receive(entry, $1) }
            }
        }
        var rest = entries[...]
        while !rest.isEmpty {
            var size: Int64 = 0
            let batch = Array(
                rest.prefix(Self.batch).prefix { entry in
                    defer { size += entry.uncompressedSize }
                    return size <= Self.batchSize
                })
            rest = rest.dropFirst(batch.count)
            let outcomes = try await outcomes(batch, reader, box)
            try await pool.run { for (entry, outcome) in zip(batch, outcomes) { receive(entry, outcome) } }
        }
    }

    /// Pages whose pictures are held in memory at once, and the bytes after which no more are added.
    private static let batch = 16
    private static let batchSize: Int64 = 32 << 20

    /// For pages that must be extracted first: from folders, and from formats that another program reads.
    private func outcomes(
        _ entries: [ArchiveEntry], _ reader: any ArchiveReader, _ size: ThumbnailSize
    ) async throws -> [ThumbnailOutcome] {
        let folder = try await pool.run {
            try PrivateFolder("thumbnails", in: BytePath(NSTemporaryDirectory()))
        }
        do {
            let pictures = try await pictures(entries, reader, folder.path)
            let whole = pictures.compactMap { try? $0.get() }
            var made = try await worker.shrink(pictures: whole, to: size)[...]
            try await pool.run { try folder.remove() }
            return pictures.map { picture in
                if case .failure(let error) = picture { return .failed(explain(error)) }
                return made.popFirst() ?? .failed("nothing was made of it")
            }
        } catch {
            // Report the original error; leftovers are removed next time.
            try? await pool.run { try folder.remove() }
            throw error
        }
    }

    private func pictures(
        _ entries: [ArchiveEntry], _ reader: any ArchiveReader, _ folder: BytePath
    ) async throws -> [Result<[UInt8], any Error>] {
        var found = (try? await reader.extractEntries(entries, into: folder)) ?? [:]
        var pictures: [Result<[UInt8], any Error>] = []
        for entry in entries {
            do {
                // A page that cannot be extracted must not stop the others.
                if found[entry.id] == nil { found[entry.id] = try await reader.extractEntry(entry, into: folder) }
                guard let url = found[entry.id] else { throw ComicError.reader(.pageLoadFailed(index: 0)) }
                let bytes = try await pool.run {
                    try Descriptor(BytePath(url.path)).readAll(limit: ArchiveLimits.maxUncompressedEntrySize)
                }
                pictures.append(.success(bytes))
            } catch {
                pictures.append(.failure((error as? ComicError)?.fault() ?? error))
            }
        }
        return pictures
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
