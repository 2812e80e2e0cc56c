import OwnFiles
import Platform
import Sandbox

extension ArchiveWorker {
    /// Lists the pages of an archive and extracts one of them to a new file, in one run instead of two.
    ///
    /// - Parameters:
    ///   - index: from 0, in reading order; if there is no such page, no file is created.
    ///   - target: must not exist. It is removed on failure.
    /// - Throws: like ``list(_:)`` if the archive cannot be listed; `ComicError.archive(.extractionFailed)` if the page
    ///   cannot be extracted.
    func page(_ path: BytePath, _ index: Int, to target: BytePath) async throws -> [EntryHeader] {
        try await pool.run {
            var run = PageRun(path: path, index: index, target: target)
            do {
                let outcome = try process(readable(.file(Descriptor(path))), ["page", "\(index)"]).run {
                    try run.consume($0)
                }
                return try run.pages(outcome) { try refusal(path, outcome, run.structure) }
            } catch {
                if run.isBegun { try? Durable.remove(target) }
                throw error
            }
        }
    }
}

/// The records of the worker's command `page`, checked.
private struct PageRun {
    let path: BytePath
    let index: Int
    let target: BytePath
    private(set) var structure = ArchiveStructure(format: .unknown, traits: [])
    private var listing = ArchiveListing()
    /// Set once all headers have arrived.
    private var pages: [EntryHeader]?
    private var extraction: Extraction?

    init(path: BytePath, index: Int, target: BytePath) { (self.path, self.index, self.target) = (path, index, target) }

    /// Whether a file at `target` exists.
    var isBegun: Bool { extraction.map { !$0.opened.isEmpty } ?? false }

    mutating func consume(_ record: WorkerRecord) throws -> Bool {
        switch record {
        case .structure(let found): structure = found
        case .header, .order: return pages == nil && listing.consume(record)
        case .bytes, .content:
            let found = try pages ?? pageHeaders(listing)
            pages = found
            guard found.indices.contains(index) else { return false }
            var extraction = extraction ?? Extraction(path: path, targets: [found[index].position: target])
            defer { self.extraction = extraction }
            do {
                return try extraction.consume(record)
            } catch {
                throw ComicError.archive(.extractionFailed(underlying: error))
            }
        case .end: break
        }
        return true
    }

    /// All pages, after the run.
    func pages(_ outcome: WorkerProcess.Outcome, refusal: () throws -> Fault) throws -> [EntryHeader] {
        if pages == nil, !outcome.isComplete { throw try refusal() }
        let found = try pages ?? pageHeaders(listing)
        guard outcome.isComplete, !found.indices.contains(index) || extraction?.whole.count == 1 else {
            throw ComicError.archive(.extractionFailed(underlying: try refusal()))
        }
        return found
    }
}
