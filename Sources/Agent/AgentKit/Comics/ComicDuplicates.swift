import ComicArchive
import FileActions
import Foundation
import OwnFiles
import Platform

/// Finds duplicate comics: `steward comics duplicates`.
package struct DuplicateReview: Encodable, Sendable {
    package struct Group: Encodable, Sendable {
        package let hash: ContentHash
        /// Bytes of each copy.
        package let size: Int64
        /// A file not named like a copy is preferred, then the oldest.
        package let keep: BytePath
        package let copies: [BytePath]
    }

    package struct Removed: Encodable, Sendable {
        package let path: BytePath
        /// Its path in the trash; nil if it was left.
        package let trash: BytePath?
        /// Why it was left.
        package let problem: String?
    }

    package let folder: BytePath
    package let groups: [Group]
    /// Files named like copies but with different content: each group in page order, the plain name first.
    package let namesakes: [[BytePath]]
    package let unreadable: [BytePath]
    /// nil if removal was not requested.
    package var removed: [Removed]?

    package var copies: Int { groups.reduce(0) { $0 + $1.copies.count } }
    /// Bytes that removing the copies would free.
    package var wasted: Int64 { groups.reduce(0) { $0 + $1.size * Int64($1.copies.count) } }
    package var hasProblems: Bool { removed.map { $0.contains { $0.problem != nil } } ?? false }
}

extension DuplicateReview {
    private func shown(_ path: BytePath) -> String { (path.relative(to: folder) ?? path).description }

    package func lines(isDryRun: Bool, isRemoval: Bool) -> [String] {
        var lines: [String] = []
        for group in groups {
            lines.append("The same content, \(ComicText.bytes(group.size)) each:")
            lines.append("  keep   \(shown(group.keep))")
            lines += group.copies.map { "  \(isDryRun || isRemoval ? "trash" : "copy ")  \(shown($0))" }
            lines.append("")
        }
        if !namesakes.isEmpty {
            lines.append("Named like copies, but with different content; they stay:")
            lines += namesakes.map { "  " + $0.map(shown).joined(separator: "  and  ") } + [""]
        }
        lines += unreadable.map { "\(shown($0)): cannot be read; check its permissions" }
        if groups.isEmpty { return lines + ["no comic is in \(folder) twice"] }
        let what = ComicText.count(copies, "copy", "copies")
        let hint = isRemoval ? "" : isDryRun ? "; nothing was touched" : "; `--remove` puts them into the trash"
        return lines + ["\(what) of \(ComicText.count(groups.count, "comic")), \(ComicText.bytes(wasted))\(hint)"]
    }

    /// The result of removing the copies.
    package var removalLines: [String] {
        guard let removed else { return [] }
        let done = removed.filter { $0.trash != nil }.count
        return removed.compactMap { line in line.problem.map { "left  \(shown(line.path)): \($0)" } }
            + [
                "put \(ComicText.count(done, "copy", "copies")) into the trash, from which a file manager can restore them"
            ]
    }
}

extension ComicOperations {
    /// Compares files of the same size by SHA-256. Single pictures are ignored.
    package func duplicates(_ meter: ProgressMeter) async throws -> DuplicateReview {
        let (found, unreadable) = try await named(root) { try await library.allComics() }
        let folder = root
        let files = found.filter { $0.type.family != .image }.map { folder.appending($0.path) }
        let review = await pool.runQuietly {
            Duplicates.find(among: files) { done, total in
                meter.show(done, of: total, "comparing, \(ComicText.bytes(done)) of \(ComicText.bytes(total))")
            }
        }
        meter.clear()
        return DuplicateReview(
            folder: folder,
            groups: review.groups.compactMap { group in
                guard let keep = group.files.first else { return nil }
                return .init(hash: group.hash, size: group.size, keep: keep, copies: group.copies)
            }, namesakes: Duplicates.namesakes(among: files, besides: review.groups),
            unreadable: unreadable.map { folder.appending($0) } + review.unreadable)
    }

    /// Moves the copies to the trash. The file to keep in each group is read again first, so that no copy is removed
    /// unless the kept file contains it.
    package func removeCopies(_ review: DuplicateReview, _ meter: ProgressMeter) async -> DuplicateReview {
        var removed: [DuplicateReview.Removed] = []
        let trash = trash
        let files = HeldFiles(below: [root, trash.home])
        for group in review.groups {
            for copy in group.copies {
                meter.show(Int64(removed.count), of: Int64(review.copies), "\(BytePath(bytes: copy.name))")
                do {
                    let placed = try await pool.run {
                        guard try ContentHash.ofFile(group.keep) == group.hash else {
                            throw Fault(.superseded, "\(group.keep), the one to keep, has changed in the meantime")
                        }
                        return try trash.put(
                            copy, expecting: group.hash, mark: group.hash.description.prefix(8), files)
                    }
                    removed.append(.init(path: copy, trash: placed.path, problem: nil))
                } catch {
                    removed.append(.init(path: copy, trash: nil, problem: explain(error)))
                }
            }
        }
        meter.clear()
        var done = review
        done.removed = removed
        return done
    }
}
