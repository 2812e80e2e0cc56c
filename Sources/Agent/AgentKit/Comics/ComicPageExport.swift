import ComicArchive
import Foundation
import Glibc
import OwnFiles
import Platform

/// A page exported from a comic (`steward comics page`), or its thumbnail (`thumbnail`).
package struct ComicPicture: Encodable, Sendable {
    package let comic: BytePath
    /// From 1; nil for a thumbnail of the cover.
    package let page: Int?
    /// Number of pages; nil for a thumbnail.
    package let pages: Int?
    /// Its path in the comic.
    package let name: String?
    package let format: String?
    package let width: Int?
    package let height: Int?
    /// In bytes.
    package let size: Int64
    /// nil for standard output.
    package let output: BytePath?
    /// A remark about the output's name.
    package let note: String?

    package var lines: [String] {
        let what = page.map { "page \($0)" + (pages.map { " of \($0)" } ?? "") } ?? "cover"
        let dimensions = width.flatMap { width in height.map { "\(width) × \($0)" } }
        let picture = [what, format?.uppercased() ?? "not a known picture", dimensions, ComicText.bytes(size)]
        return [picture.compactMap { $0 }.joined(separator: ", ") + (output.map { " -> \($0)" } ?? "")]
            + (note.map { ["note: \($0)"] } ?? [])
    }
}

/// The requested page.
package enum PageChoice: Sendable, Equatable {
    /// From 1.
    case number(Int)
    case cover

    /// - Returns: nil for anything but a number or `cover`.
    package init?(_ text: String) {
        if text == "cover" {
            self = .cover
        } else if let number = Int(text) {
            self = .number(number)
        } else {
            return nil
        }
    }

    /// A suffix for the comic's name: `-p007`, `-cover`.
    func mark(index: Int, of count: Int) -> String {
        if self == .cover { return "-cover" }
        return "-p" + (index + 1).padded("\(count)".count)
    }
}

extension ComicOperations {
    /// Exports one page, byte for byte. Nothing else is unpacked unless the archive is solid.
    package func exportPage(
        _ path: BytePath, _ choice: PageChoice, to target: PictureTarget
    ) async throws -> ComicPicture {
        let comic = Self.canonical(path)
        return try await named(comic) {
            let reader = try await reader(comic)
            let index: Int
            switch choice {
            case .cover:
                let (entries, stated) = (try await reader.listEntries(), try await statedPages(comic))
                index = PageLayout.cover(of: entries.map { BytePath.unescape($0.path) }, stated: stated) ?? 0
            case .number(let number):
                guard number > 0 else { throw Fault(.usage, "there is no page \(number): pages are counted from 1") }
                index = number - 1
            }
            let folder = try await pool.run { try Self.privateFolder() }
            do {
                let (count, page) = try await reader.page(index, into: folder.path)
                try Self.check(index + 1, of: count, comic)
                guard let (entry, file) = page else { throw ComicError.reader(.pageLoadFailed(index: index)) }
                let mark = choice.mark(index: index, of: count)
                return try await pool.run {
                    let source = try Descriptor(BytePath(file.path))
                    // Removed before the output is written: the reader may end this process at any moment.
                    try folder.remove()
                    return try Self.deliver(source, entry, of: count, comic, mark, target)
                }
            } catch {
                // The original error matters more; leftovers are removed next time.
                try? await pool.run { try folder.remove() }
                throw error
            }
        }
    }

    /// A JPEG of a page, scaled to fit; cached for next time.
    ///
    /// - Parameter size: nil for the size used in cover lists and page overviews.
    package func exportThumbnail(
        _ path: BytePath, _ choice: PageChoice, size: ThumbnailSize?, to target: PictureTarget,
        complain: @escaping @Sendable (any Error) -> Void
    ) async throws -> ComicPicture {
        let comic = Self.canonical(path)
        return try await named(comic) {
            let thumbnails = ThumbnailService(
                worker: try worker(), cache: ThumbnailCache(folder: directories.cache.appending("thumbnails")),
                complain: complain)
            let jpeg: Data
            switch choice {
            case .cover:
                jpeg = try await thumbnails.thumbnail(
                    of: comic, page: .cover, size: size ?? .cover, stated: try await statedPages(comic))
            case .number(let number):
                do {
                    jpeg = try await thumbnails.thumbnail(of: comic, page: .index(number - 1), size: size ?? .page)
                } catch ComicError.reader(.pageLoadFailed(let index)) {
                    try Self.check(number, of: try await reader(comic).listEntries().count, comic)
                    throw ComicError.reader(.pageLoadFailed(index: index))
                }
            }
            let image = ImageHeader.read(Array(jpeg.prefix(ImageHeader.headLength)))
            let number = if case .number(let number) = choice { number } else { Int?.none }
            let mark = (number.map { "-p\($0)" } ?? "-cover") + "-thumbnail.jpg"
            let output = try await pool.run {
                try target.deliver(named: comic.stemAndExtension.stem + Array(mark.utf8)) {
                    try PictureTarget.write(Array(jpeg), to: $0)
                }
            }
            return ComicPicture(
                comic: comic, page: number, pages: nil, name: nil, format: image?.format.rawValue,
                width: image?.width, height: image?.height, size: Int64(jpeg.count), output: output,
                note: Self.note(on: output, suffix: "jpg"))
        }
    }

    /// The pages listed in ComicInfo.xml; empty if it is missing or unreadable.
    private func statedPages(_ path: BytePath) async throws -> [ComicPageInfo] {
        guard try await type(of: path).archive != nil else { return [] }
        let headers = try await worker().list(path).headers.filter { EntryRole(of: $0) == .metadata && !$0.isEncrypted }
        guard let choice = MetadataFile.comicInfo.choose(among: headers.map(\.path)) else { return [] }
        let folder = try await pool.run { try Self.privateFolder() }
        let target = folder.path.appending("info")
        do {
            _ = try await worker().extract(path, [headers[choice.index].position: target])
            let bytes = try await pool.run {
                let bytes = try Descriptor(target).readAll(limit: ArchiveLimits.maxMetadataSize)
                try folder.remove()
                return bytes
            }
            return try MetadataFile.comicInfo.parse(bytes).pages
        } catch is Fault {
            // The cover can be found without it; `inspect` reports the problem.
            try? await pool.run { try folder.remove() }
            return []
        }
    }

    // MARK: Blocking

    private static func privateFolder() throws -> PrivateFolder {
        try PrivateFolder("page", in: BytePath(NSTemporaryDirectory()))
    }

    private static func deliver(
        _ source: Descriptor, _ entry: ArchiveEntry, of count: Int, _ comic: BytePath, _ mark: String,
        _ target: PictureTarget
    ) throws -> ComicPicture {
        let size = try source.status().size
        let head = try source.read(at: 0, count: ImageHeader.headLength)
        let (format, image) = (PictureFormat.of(head), ImageHeader.read(head))
        let suffix = format.map { $0 == .jpeg ? "jpg" : $0.rawValue }
        let ending = suffix ?? BytePath(entry.path).stemAndExtension.extension.map { BytePath.escape($0) }
        let name = comic.stemAndExtension.stem + Array((mark + (ending.map { ".\($0)" } ?? "")).utf8)
        let output = try target.deliver(named: name) { try PictureTarget.copy(source, to: $0) }
        return ComicPicture(
            comic: comic, page: entry.index + 1, pages: count, name: entry.path, format: format?.rawValue,
            width: image?.width, height: image?.height, size: size, output: output,
            note: note(on: output, suffix: suffix))
    }

    /// A remark if the output's extension does not match the picture's format.
    private static func note(on output: BytePath?, suffix: String?) -> String? {
        guard let output, let suffix, let given = output.stemAndExtension.extension,
            ComicFileType(name: output.name).family == .image
        else { return nil }
        let same = ["jpeg": "jpg", "tif": "tiff", "heif": "heic"]
        let text = String(decoding: given, as: UTF8.self).lowercased()
        guard same[text] ?? text != suffix else { return nil }
        return "the picture is a \(suffix.uppercased()); a name with .\(suffix) would say so"
    }
}
