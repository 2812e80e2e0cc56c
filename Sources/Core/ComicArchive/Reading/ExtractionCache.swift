import Foundation
import Glibc
import OwnFiles
import Platform

/// The pages around the one that is being read, as files in a folder of the cache's own (seed 004, section 7).
///
/// Only files that it made itself, in that folder, are ever removed: the original deleted what readers handed it, and
/// with that the user's own pictures.
package actor ExtractionCache {
    /// Pages on either side of the current one that are kept for certain; those outside twice that are evicted.
    package static let window = 5

    private let reader: any ArchiveReader
    private let folder: BytePath
    private let lane = BlockingLane("pages")
    private var entries: [ArchiveEntry] = []
    private var files: [Int: BytePath] = [:]
    private var running: [Int: Task<URL, any Error>] = [:]
    private var prefetching: Task<Void, Never>?
    private var isOpen = false
    private var isClosed = false

    /// - Parameter parent: the cache's folder; this comic gets one of its own in it.
    package init(reader: any ArchiveReader, in parent: BytePath) {
        self.reader = reader
        let name = ContentHash(of: reader.archive.bytes).description
        folder = parent.appending("\(name)-\(randomHex(4))")
    }

    /// The pages in reading order.
    package func open() async throws -> [ArchiveEntry] {
        if !isOpen {
            let (folder, found) = (self.folder, try await reader.listEntries())
            try await lane.run { try Durable.makeDirectory(folder, mode: 0o700) }
            entries = found
            isOpen = true
        }
        return entries
    }

    /// The file with page `index` (from 0). The next five follow in the background, those far away go.
    package func page(_ index: Int) async throws -> URL {
        let pages = try await open()
        guard pages.indices.contains(index), !isClosed else {
            throw InkyPanelsError.reader(.pageLoadFailed(index: index))
        }
        let url = try await file(index)
        try await evict(around: index)
        prefetch(after: index)
        return url
    }

    /// Waits until the pages that follow the last one asked for are there, or cannot be had.
    package func settle() async { await prefetching?.value }

    /// Which pages stand as files now.
    package var cached: Set<Int> { Set(files.keys) }

    /// Removes all files and the folder; the cache is of no use afterwards.
    package func close() async throws {
        isClosed = true
        prefetching?.cancel()
        await prefetching?.value
        // Whoever waits for a page notes its file down behind the task's end, and only then is it no longer running.
        while let task = running.values.first {
            _ = await task.result
            await Task.yield()
        }
        let (made, folder, wasOpen) = (Array(files.values), folder, isOpen)
        files = [:]
        try await lane.run {
            for file in made { try Durable.remove(file) }
            if wasOpen { _ = folder.withCString { rmdir($0) } }
        }
    }

    private func file(_ index: Int) async throws -> URL {
        if let known = files[index] { return URL(fileURLWithPath: known.text) }
        if let task = running[index] { return try await task.value }
        let (entry, reader, folder) = (entries[index], reader, folder)
        let task = Task { try await reader.extractEntry(entry, into: folder) }
        running[index] = task
        defer { running[index] = nil }
        let url = try await task.value
        files[index] = try own(url)
        return url
    }

    /// A reader that hands out anything but a file of this folder would have it deleted later.
    private func own(_ url: URL) throws -> BytePath {
        let path = BytePath(url.path)
        guard path.parent == folder else {
            throw Fault(.failed, "\(path) is not a copy in \(folder); it is left alone", path: path)
        }
        return path
    }

    private func prefetch(after index: Int) {
        prefetching?.cancel()
        let wanted = ((index + 1)..<(index + 1 + Self.window)).filter {
            entries.indices.contains($0) && files[$0] == nil && running[$0] == nil
        }
        guard !wanted.isEmpty, !isClosed else { return }
        // After the one before, cancelled or not: what that one still makes has to be known before the cache is closed.
        let before = prefetching
        prefetching = Task {
            await before?.value
            await self.fetch(wanted)
        }
    }

    /// A page that cannot be had is tried again, and complained of, when it is asked for.
    private func fetch(_ wanted: [Int]) async {
        let batch = wanted.map { entries[$0] }
        guard !Task.isCancelled, let found = try? await reader.extractEntries(batch, into: folder) else { return }
        for index in wanted {
            guard let url = found[entries[index].id], let path = try? own(url) else { continue }
            // Where the reader asked meanwhile, its file may be in use already: this second one goes.
            if files[index] == nil, running[index] == nil {
                files[index] = path
            } else {
                _ = try? await lane.run { try Durable.remove(path) }
            }
        }
    }

    private func evict(around index: Int) async throws {
        let far = files.filter { abs($0.key - index) > 2 * Self.window }
        for page in far.keys { files[page] = nil }
        let gone = Array(far.values)
        try await lane.run { for file in gone { try Durable.remove(file) } }
    }
}
