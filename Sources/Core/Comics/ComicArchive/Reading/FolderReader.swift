import Foundation
import Glibc
import OwnFiles
import Platform

/// A folder of pictures, including subfolders; symlinks and hidden files are skipped.
package struct FolderReader: ArchiveReader {
    package let archive: BytePath
    private let pool: BlockingPool

    package init(archive: BytePath, pool: BlockingPool) {
        self.archive = archive
        self.pool = pool
    }

    package func listEntries() async throws -> [ArchiveEntry] {
        let headers = try await pool.run {
            var found: [EntryHeader] = []
            var folders: [BytePath] = [BytePath("")]
            while let folder = folders.popLast() {
                for item in try listDirectory(archive.appending(folder)) {
                    let path = folder.appending(name: item.name)
                    guard let status = try FileStatus.of(archive.appending(path)) else { continue }
                    if status.kind == .directory, item.name.first != UInt8(ascii: ".") { folders.append(path) }
                    let header = EntryHeader(
                        position: found.count, kind: status.kind == .file ? .file : .other, isEncrypted: false,
                        declaredSize: status.size, path: path.bytes)
                    guard EntryRole(of: header) == .page, status.size <= ArchiveLimits.maxUncompressedEntrySize else {
                        continue
                    }
                    found.append(header)
                    if found.count > ArchiveLimits.maxEntryCount {
                        let what = ArchiveJudge.message(.tooManyPages)
                        throw ComicError.archive(
                            .extractionFailed(underlying: Fault(.refused, what, path: archive)))
                    }
                }
            }
            return found
        }
        guard !headers.isEmpty else { throw ComicError.archive(.emptyArchive) }
        return PageOrder.sorted(headers) { $0.path }.enumerated().map {
            ArchiveEntry(header: $1, size: $1.declaredSize, index: $0)
        }
    }

    package func extractEntry(_ entry: ArchiveEntry, into folder: BytePath) async throws -> URL {
        let target = newFile(for: entry, in: folder)
        try await pool.run {
            try copyPage(
                SafePath.open(BytePath(bytes: BytePath.unescape(entry.path)), beneath: archive), to: target)
        }
        return URL(fileURLWithPath: target.text)
    }
}

/// One picture, as a comic of one page.
package struct SingleImageReader: ArchiveReader {
    package let archive: BytePath
    private let pool: BlockingPool

    package init(archive: BytePath, pool: BlockingPool) {
        self.archive = archive
        self.pool = pool
    }

    package func listEntries() async throws -> [ArchiveEntry] {
        let size = try await pool.run { try Descriptor(archive).status().size }
        let header = EntryHeader(
            position: 0, kind: .file, isEncrypted: false, declaredSize: size, path: archive.name)
        return [ArchiveEntry(header: header, size: size, index: 0)]
    }

    package func extractEntry(_ entry: ArchiveEntry, into folder: BytePath) async throws -> URL {
        let target = newFile(for: entry, in: folder)
        try await pool.run { try copyPage(Descriptor(archive), to: target) }
        return URL(fileURLWithPath: target.text)
    }
}

/// Copies an open picture to a new file, which is removed on failure. Blocks.
private func copyPage(_ source: Descriptor, to target: BytePath) throws {
    let copy = try Descriptor(target, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    do {
        var offset: Int64 = 0
        while true {
            let part = try source.read(at: offset, count: 262_144)
            if part.isEmpty { return }
            guard offset + Int64(part.count) <= ArchiveLimits.maxUncompressedEntrySize else {
                throw Fault(.refused, "\(source.path) has more bytes than a page may have", path: source.path)
            }
            try copy.write(part, at: offset)
            offset += Int64(part.count)
        }
    } catch {
        try Durable.remove(target)
        throw error
    }
}
