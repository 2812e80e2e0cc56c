import ComicArchive
import Foundation
import OwnFiles
import Platform

/// The comics of a library: `steward comics list`.
package struct ComicListing: Encodable, Sendable {
    package struct Comic: Encodable, Sendable {
        /// Relative to the library's folder.
        package let path: BytePath
        package let type: ComicFileType
        /// In bytes; for a folder, the total of its pictures.
        package let size: Int64
        package let modified: Timestamp
        /// For a folder: its number of pictures.
        package let pictures: Int?
        /// nil if it was never opened.
        package let progress: ComicProgress?
        /// Pages, from 1.
        package let bookmarks: [Int]
        package let isFavourite: Bool
    }

    package struct Series: Encodable, Sendable {
        package let id: String
        package let name: String
        /// In reading order.
        package let members: [BytePath]
    }

    package let library: BytePath
    package let comics: [Comic]
    /// nil unless requested.
    package let series: [Series]?
    package let unreadable: [BytePath]
}

extension ComicListing {
    package func lines(width: Int?, zone: Zone) -> [String] {
        var lines: [String] = []
        if let series {
            let byPath = Dictionary(comics.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
            var grouped: Set<BytePath> = []
            for group in series {
                grouped.formUnion(group.members)
                if !lines.isEmpty { lines.append("") }
                lines.append("\(ComicText.safe(group.name)) (\(group.members.count))")
                lines += table(group.members.compactMap { byPath[$0] }, width, zone)
            }
            let loose = comics.filter { !grouped.contains($0.path) }
            if !loose.isEmpty, !series.isEmpty { lines += ["", "In no series (\(loose.count))"] }
            lines += table(loose, width, zone)
        } else {
            lines = table(comics, width, zone)
        }
        lines += unreadable.map { "\($0): cannot be read; check its permissions" }
        return lines.isEmpty ? ["no comics in \(library)"] : lines
    }

    private func table(_ comics: [Comic], _ width: Int?, _ zone: Zone) -> [String] {
        var table = TextTable([.left, .left, .right, .left, .left], flexible: 0)
        for comic in comics {
            let what = comic.pictures.map { ComicText.count($0, "picture") } ?? ComicText.type(comic.type)
            let marks =
                (comic.bookmarks.isEmpty ? [] : [ComicText.count(comic.bookmarks.count, "bookmark")])
                + (comic.isFavourite ? ["favourite"] : [])
            table.add([
                comic.path.description, what, ComicText.bytes(comic.size), ComicText.day(comic.modified, zone),
                ((comic.progress.map { [ComicText.reading($0)] } ?? []) + marks).joined(separator: ", "),
            ])
        }
        return table.lines(width: width, indent: series == nil ? "" : "  ")
    }
}

extension ComicOperations {
    /// All readable comics of the library.
    ///
    /// - Parameters:
    ///   - recent: only this many recently read comics, newest first.
    ///   - bySeries: whether to include the series.
    package func list(
        by order: ComicFile.Order, recent: Int? = nil, bySeries: Bool = false, _ meter: ProgressMeter
    ) async throws -> ComicListing {
        let (found, unreadable) = try await named(root) { try await library.allComics() }
        var (files, pictures) = Self.withFolders(found)
        files = ComicFile.sorted(files, by: order)
        let service = try await progressIfAny()
        let contents = try await contents(of: files, service, meter)
        meter.clear()
        var records: [BytePath: ProgressRecord] = [:]
        var bookmarks: [BytePath: [Int]] = [:]
        var favourites: Set<ContentHash> = []
        if let service {
            favourites = Set(try await service.favourites().map(\.content))
            for (path, content) in contents {
                records[path] = try await service.loadProgress(for: content)
                bookmarks[path] = try await service.bookmarks(for: content)
            }
            if let recent {
                let lately = Set(try await service.recent(limit: .max).map(\.content))
                files = files.filter { contents[$0.path].map(lately.contains) ?? false }
                files.sort { left, right in
                    let times = (records[left.path]?.lastReadDate, records[right.path]?.lastReadDate)
                    return (times.0 ?? Timestamp(nanoseconds: 0)) > (times.1 ?? Timestamp(nanoseconds: 0))
                }
                files = Array(files.prefix(max(0, recent)))
            }
        } else if recent != nil {
            files = []
        }
        let comics = files.map { file in
            ComicListing.Comic(
                path: file.path, type: file.type, size: file.size, modified: Timestamp(nanoseconds: file.modified),
                pictures: pictures[file.path], progress: records[file.path].map(ComicProgress.init),
                bookmarks: (bookmarks[file.path] ?? []).map { $0 + 1 },
                isFavourite: contents[file.path].map(favourites.contains) ?? false)
        }
        let groups = bySeries ? SeriesGrouping.group(files.map { SeriesMember(path: $0.path) }).groups : nil
        return ComicListing(
            library: root, comics: comics,
            series: groups?.map { .init(id: $0.id, name: $0.name, members: $0.members.map(\.path)) },
            unreadable: unreadable)
    }

    /// The pictures in a folder form one comic; those beside the comics count on their own.
    private static func withFolders(_ found: [ComicFile]) -> ([ComicFile], [BytePath: Int]) {
        let isInFolder = { (file: ComicFile) in file.type.family == .image && !file.path.parent.isEmpty }
        let folders = Dictionary(grouping: found.filter(isInFolder)) { $0.path.parent }.map { folder, pictures in
            ComicFile(
                path: folder, type: .folder, size: pictures.reduce(0) { $0 + $1.size },
                modified: pictures.map(\.modified).max() ?? 0)
        }
        let counts = Dictionary(grouping: found.filter(isInFolder)) { $0.path.parent }.mapValues(\.count)
        return (found.filter { !isInFolder($0) } + folders, counts)
    }

    /// Content hashes of the files that may have a reading state. A file is read only if its size matches such a comic
    /// and its hash is not cached.
    private func contents(
        of files: [ComicFile], _ service: ProgressService?, _ meter: ProgressMeter
    ) async throws -> [BytePath: ContentHash] {
        guard let service else { return [:] }
        let sizes = try await service.sizesOfKept()
        let (library, candidates) = (root, files.filter { $0.type != .folder && sizes.contains($0.size) })
        let present = try await pool.run {
            try candidates.compactMap { file in
                try FileStatus.of(Self.canonical(library.appending(file.path))).map { (file.path, $0.fingerprint) }
            }
        }
        let known = try await service.known(present.map(\.1))
        var contents: [BytePath: ContentHash] = [:]
        for ((path, _), before) in zip(present, known) {
            if let before {
                contents[path] = before
            } else {
                let (found, fingerprint) = try await content(of: Self.canonical(root.appending(path)), meter)
                try await service.remember(found, of: fingerprint)
                contents[path] = found
            }
        }
        return contents
    }

    /// Runs `body`; adds the file's path to errors that lack it.
    func named<R>(_ path: BytePath, _ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let error as ComicError {
            switch error {
            case .fileSystem(.fileNotFound), .fileSystem(.permissionDenied): throw error.fault()
            default: throw error.fault(path)
            }
        }
    }
}
