import ComicArchive
import Foundation
import OwnFiles
import Platform

/// The reading state of one comic: `steward comics progress` and `bookmark`.
package struct ComicReadingState: Encodable, Sendable {
    package let file: BytePath
    package let content: ContentHash
    /// nil if it was never opened or was reset.
    package let progress: ComicProgress?
    /// Pages, from 1.
    package let bookmarks: [Int]

    package func lines(zone: Zone) -> [String] {
        let marks =
            bookmarks.isEmpty ? "" : "; bookmarks on \(bookmarks.map(String.init).joined(separator: ", "))"
        return ["\(file): \(progress.map { ComicDetails.reading($0, zone) } ?? "not read yet")\(marks)"]
    }
}

/// A favourite comic: `steward comics favourite`.
package struct ComicFavourite: Encodable, Sendable {
    package let file: BytePath
    package let content: ContentHash
    package let added: Timestamp
    /// Whether the file is there now; a missing one, for instance on an unmounted disk, stays a favourite.
    package let isThere: Bool

    package func line(zone: Zone) -> String {
        "\(ComicText.day(added, zone))  \(file)\(isThere ? "" : "  (missing)")"
    }
}

extension ComicOperations {
    package enum ReadingChange: Sendable, Equatable {
        /// The current page, from 1.
        case page(Int)
        /// Finished.
        case done
        /// As if it had never been opened: clears progress and bookmarks.
        case reset
    }

    package enum BookmarkChange: Sendable, Equatable {
        /// Sets the bookmark, or removes it if set.
        case toggle(Int)
        case remove(Int)
    }

    /// - Throws: `Fault(.usage)` for a page that the comic does not have.
    package func reading(
        _ path: BytePath, _ change: ReadingChange? = nil, _ meter: ProgressMeter
    ) async throws -> ComicReadingState {
        let path = Self.canonical(path)
        return try await named(path) {
            let content = try await remembered(path, meter)
            switch change {
            case nil: break
            case .reset: try await progress().deleteProgress(for: content)
            case .page, .done:
                let count = try await reader(path).listEntries().count
                let page = if case .page(let number)? = change { number } else { count }
                try Self.check(page, of: count, path)
                try await progress().saveProgress(
                    for: content, at: path, currentPage: page - 1, totalPages: count, now: .now())
            }
            return try await state(path, content)
        }
    }

    /// - Returns: the state, and whether the page has a bookmark now; nil if no page was given.
    package func bookmark(
        _ path: BytePath, _ change: BookmarkChange? = nil, _ meter: ProgressMeter
    ) async throws -> (ComicReadingState, isSet: Bool?) {
        let path = Self.canonical(path)
        return try await named(path) {
            let content = try await remembered(path, meter)
            var isSet: Bool?
            switch change {
            case nil: break
            case .toggle(let page):
                try Self.check(page, of: try await reader(path).listEntries().count, path)
                isSet = try await progress().toggleBookmark(for: content, page: page - 1)
            case .remove(let page):
                let service = try await progress()
                if try await service.isBookmarked(content, page: page - 1) {
                    _ = try await service.toggleBookmark(for: content, page: page - 1)
                }
                isSet = false
            }
            return (try await state(path, content), isSet)
        }
    }

    /// Adds or removes a favourite.
    package func setFavourite(_ isFavourite: Bool, _ path: BytePath, _ meter: ProgressMeter) async throws {
        let path = Self.canonical(path)
        try await named(path) {
            let content = try await remembered(path, meter)
            try await progress().setFavourite(isFavourite, for: content, at: path, now: .now())
        }
    }

    /// Newest first, with whether the file is still where it was when marked.
    package func favourites() async throws -> [ComicFavourite] {
        let all = try await progressIfAny()?.favourites() ?? []
        return try await pool.run {
            try all.map {
                ComicFavourite(
                    file: $0.path, content: $0.content, added: $0.added, isThere: try FileStatus.of($0.path) != nil)
            }
        }
    }

    private func remembered(_ path: BytePath, _ meter: ProgressMeter) async throws -> ContentHash {
        let (content, fingerprint) = try await content(of: path, meter)
        meter.clear()
        try await progress().remember(content, of: fingerprint)
        return content
    }

    private func state(_ path: BytePath, _ content: ContentHash) async throws -> ComicReadingState {
        let service = try await progress()
        return ComicReadingState(
            file: path, content: content,
            progress: try await service.loadProgress(for: content).map(ComicProgress.init),
            bookmarks: try await service.bookmarks(for: content).map { $0 + 1 })
    }

    static func check(_ page: Int, of count: Int, _ path: BytePath) throws {
        guard (1...max(1, count)).contains(page), count > 0 else {
            throw Fault(
                .usage, "\(path) has \(ComicText.count(count, "page")); there is no page \(page)", path: path)
        }
    }
}
