import ComicArchive
import ComicVault
import Foundation
import JSONText
import Platform
import Synchronization

/// The metadata object of a comic in a vault, as JSON: the comic's metadata, and the offsets of pages and thumbnails in
/// the objects beside it.
package struct SealedMetadata: Codable, Sendable {
    package struct Page: Codable, Sendable {
        /// The path's bytes within the archive, escaped as `BytePath` does.
        package let name: String
        package let size: Int64
        package let width: Int?
        package let height: Int?
        package let damage: String?
        /// Offset in the page pack; nil if the page is not in one.
        package var offset: Int64?
        /// Position in the archive; nil if that is not a ZIP.
        package var place: ZipPlace?
    }

    package struct Thumbnail: Codable, Sendable {
        /// From 0.
        package let page: Int
        /// The box that it fits in.
        package let size: ThumbnailSize
        package let offset: Int
        package let length: Int
    }

    package struct File: Codable, Sendable {
        package let path: BytePath
        package let content: Data
    }

    /// Format version of this object.
    package var version = 1
    package let format: ArchiveFormat
    package let metadata: ComicMetadata
    /// ComicInfo.xml and MetronInfo.xml, unmodified.
    package let files: [File]
    /// In reading order.
    package internal(set) var pages: [Page]
    package internal(set) var thumbnails: [Thumbnail] = []
    package let damage: [String]
}

/// Set once a page pack could not be made.
package final class PackFailure: Sendable {
    private let flag = Atomic<Bool>(false)

    package init() {}

    package var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}

extension SealedComic {
    /// Above either limit only the cover gets a thumbnail; more would take too long.
    private static let pagesToShrink = 48
    private static let bytesToShrink: Int64 = 48 << 20

    /// Metadata, thumbnails and page pack, made in caged processes and in memory. Parts that cannot be made are left
    /// out. Blocks.
    ///
    /// - Parameters:
    ///   - archive: the archive that the report describes.
    ///   - packFailed: set if the page pack, which is made during sealing, fails. If it is already set, the pack is
    ///     left out.
    package func parts(
        of archive: ArchiveSource, _ worker: ArchiveWorker, packFailed: PackFailure = PackFailure()
    ) throws -> [(kind: ObjectKind, content: ObjectContent)] {
        // Unpacked once, used for every part.
        let archive = try worker.readable(archive)
        var sealed = SealedMetadata(
            format: report.format, metadata: known.metadata,
            files: report.metadata.map { .init(path: $0.path, content: Data($0.bytes)) },
            pages: report.pages.map {
                .init(
                    name: $0.entry.path, size: $0.entry.uncompressedSize, width: $0.image?.width,
                    height: $0.image?.height, damage: $0.damage, place: $0.place)
            }, damage: report.damage)
        var parts: [(kind: ObjectKind, content: ObjectContent)] = []
        var pictures: [UInt8] = []
        for picture in thumbnails(archive, worker) {
            sealed.thumbnails.append(
                .init(page: picture.page, size: picture.size, offset: pictures.count, length: picture.jpeg.count))
            pictures += picture.jpeg
        }
        if !pictures.isEmpty { parts.append((.thumbnails, ObjectContent(pictures))) }
        if !packFailed.isSet, let pack = pack(archive, worker, packFailed, &sealed) { parts.append((.pagePack, pack)) }
        return [(.metadata, ObjectContent(Array(try JSONText.line(sealed).utf8)))] + parts
    }

    /// The decoded pages end to end, for an archive without random access; nil for others.
    private func pack(
        _ archive: ArchiveSource, _ worker: ArchiveWorker, _ failed: PackFailure, _ sealed: inout SealedMetadata
    ) -> ObjectContent? {
        guard report.format.traits.isSequential else { return nil }
        let whole = report.pages.indices.filter { report.pages[$0].damage == nil }
            .sorted { report.pages[$0].entry.position < report.pages[$1].entry.position }
        var length: Int64 = 0
        for index in whole {
            sealed.pages[index].offset = length
            length += report.pages[index].entry.uncompressedSize
        }
        guard length > 0 else { return nil }
        let sizes = whole.map { (report.pages[$0].entry.position, report.pages[$0].entry.uncompressedSize) }
        let stream = worker.stream(archive, Dictionary(sizes, uniquingKeysWith: { first, _ in first }))
        let identity = ContentHash(of: Array("page pack of ".utf8) + hash.bytes)
        return ObjectContent(streamOf: archive.path, length: length, identity: identity) { buffer, _ in
            do {
                return try stream.read(into: buffer)
            } catch {
                failed.set()
                throw error
            }
        }
    }

    private typealias Picture = (page: Int, size: ThumbnailSize, jpeg: [UInt8])

    /// The cover's thumbnail, and the pages' if that is cheap; none without libvips.
    private func thumbnails(_ archive: ArchiveSource, _ worker: ArchiveWorker) -> [Picture] {
        let names = report.pages.map { BytePath.unescape($0.entry.path) }
        guard let cover = PageLayout.cover(of: names, stated: known.metadata.pages) else { return [] }
        let shrinker = ThumbnailWorker(worker)
        do {
            if report.format == .pdf {
                guard let page = try worker.page(cover, of: archive).page,
                    case .made(let jpeg)? = try shrinker.shrink(opened: [page.bytes], to: .cover).first
                else { return [] }
                return [(cover, .cover, jpeg)]
            }
            var made = try shrink([cover], .cover, archive, shrinker)
            let bytes = report.pages.reduce(0) { $0 + $1.entry.uncompressedSize }
            if report.pages.count <= Self.pagesToShrink, bytes <= Self.bytesToShrink {
                made += try shrink(Array(report.pages.indices), .page, archive, shrinker)
            }
            return made
        } catch {
            // Thumbnails are optional; `steward doctor` reports what is missing.
            return []
        }
    }

    private func shrink(
        _ pages: [Int], _ size: ThumbnailSize, _ archive: ArchiveSource, _ shrinker: ThumbnailWorker
    ) throws -> [Picture] {
        let numbers = Dictionary(
            pages.map { (report.pages[$0].entry.position, $0) }, uniquingKeysWith: { one, _ in one })
        var made: [Picture] = []
        try shrinker.shrink(opened: archive, positions: numbers.keys, to: size) { position, outcome in
            if case .made(let jpeg) = outcome, let page = numbers[position] { made.append((page, size, jpeg)) }
        }
        return made.sorted { $0.page < $1.page }
    }
}
