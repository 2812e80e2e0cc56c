import ComicArchive
import Foundation
import OwnFiles
import Platform

/// Everything known about one comic: `steward comics show`.
package struct ComicDetails: Encodable, Sendable {
    package let file: BytePath
    package let type: ComicFileType
    /// SHA-256 of the file; nil for a folder.
    package let content: ContentHash?
    /// nil for a folder and for a single picture, which are not validated.
    package let inspection: ComicInspection?
    /// nil if they are part of the inspection.
    package let pages: [ComicPageLine]?
    /// Its page number, from 1.
    package let cover: Int?
    package let progress: ComicProgress?
    /// Pages, from 1.
    package let bookmarks: [Int]
    package let isFavourite: Bool

    package var isRefused: Bool { inspection.map { !$0.isAccepted } ?? false }

    /// - Parameter folder: files below it are shown relative to it.
    package func lines(width: Int?, zone: Zone, from folder: BytePath) -> [String] {
        let pages = pages ?? inspection?.pages ?? []
        var lines: [String]
        if let inspection, !inspection.isAccepted {
            lines = inspection.lines(isFull: false, width: width, from: folder)
        } else {
            let size = ComicText.bytes(pages.reduce(0) { $0 + $1.size })
            let damage = inspection.map(\.damage.count) ?? 0
            lines = [
                "\(file.relative(to: folder) ?? file): \(ComicText.type(type)), \(ComicText.count(pages.count, "page")), \(size)"
                    + (damage > 0 ? ", \(ComicText.count(damage, "piece of damage", "pieces of damage"))" : "")
            ]
        }
        lines.append(
            "  " + (progress.map { Self.reading($0, zone) } ?? "not read yet") + (isFavourite ? ", a favourite" : ""))
        if !bookmarks.isEmpty {
            lines.append("  bookmarks on \(bookmarks.map(String.init).joined(separator: ", "))")
        }
        if let facts = inspection?.facts {
            let known = facts.lines(width: width)
            if !known.isEmpty { lines += ["", "Metadata"] + known }
        }
        if !pages.isEmpty {
            lines += ["", "Pages"] + ComicPageLine.lines(pages, bookmarks: Set(bookmarks), width: width)
        }
        return lines
    }

    static func reading(_ progress: ComicProgress, _ zone: Zone) -> String {
        let day = ComicText.day(progress.lastRead, zone)
        if progress.isCompleted { return "read to the end, \(ComicText.count(progress.pages, "page")), on \(day)" }
        return "page \(progress.page) of \(progress.pages) (\(Int(progress.percent)) %), last read on \(day)"
    }
}

extension ComicOperations {
    /// Reads a comic and its reading state. Damage is reported, not refused.
    package func details(_ path: BytePath, _ meter: ProgressMeter) async throws -> ComicDetails {
        let path = Self.canonical(path)
        let type = try await type(of: path)
        guard type.family != .folder, type.family != .image else {
            let entries = try await named(path) { try await reader(path).listEntries() }
            let cover = PageLayout.cover(of: entries.map { BytePath.unescape($0.path) })
            let kept = try await kept(type == .folder ? nil : path, meter)
            return ComicDetails(
                file: path, type: type, content: kept.content, inspection: nil,
                pages: entries.map { ComicPageLine($0, isCover: $0.index == cover) }, cover: cover.map { $0 + 1 },
                progress: kept.progress, bookmarks: kept.bookmarks, isFavourite: kept.isFavourite)
        }
        let kept = try await kept(path, meter)
        var found: ComicInspection?
        let size = try await pool.run { try FileStatus.of(path)?.size ?? 0 }
        try await inspect([(path, size)], mode: .lenient, hashes: false, meter) { found = $0 }
        return ComicDetails(
            file: path, type: type, content: kept.content, inspection: found, pages: nil,
            cover: found?.pages.first { $0.isCover }?.number, progress: kept.progress, bookmarks: kept.bookmarks,
            isFavourite: kept.isFavourite)
    }

    private struct Kept {
        var content: ContentHash?
        var progress: ComicProgress?
        var bookmarks: [Int] = []
        var isFavourite = false
    }

    private func kept(_ path: BytePath?, _ meter: ProgressMeter) async throws -> Kept {
        var kept = Kept()
        guard let path else { return kept }
        let content = try await content(of: path, meter).0
        meter.clear()
        kept.content = content
        guard let service = try await progressIfAny() else { return kept }
        kept.progress = try await service.loadProgress(for: content).map(ComicProgress.init)
        kept.bookmarks = try await service.bookmarks(for: content).map { $0 + 1 }
        kept.isFavourite = try await service.isFavourite(content)
        return kept
    }
}

extension ComicPageLine {
    /// From a listing, which provides only names and sizes.
    init(_ entry: ArchiveEntry, isCover: Bool) {
        self.init(
            number: entry.index + 1, name: entry.path, size: entry.uncompressedSize, format: nil, width: nil,
            height: nil, isDouble: false, isCover: isCover, isDeleted: false, hash: nil, damage: nil)
    }
}
