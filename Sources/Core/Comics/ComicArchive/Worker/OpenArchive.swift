import Platform

/// For archives that are already open, or are read on demand: those without cleartext on disk. All of it blocks.
extension ArchiveWorker {
    /// Like ``validate(_:mode:hashes:progress:)``, on the calling thread. Messages name the archive by its `path`.
    ///
    /// - Parameter names: if they are withheld, the report has placeholders for the names of pages and skipped entries,
    ///   no order but that of an EPUB's spine, and blank metadata.
    package func judge(
        _ archive: ArchiveSource, mode: ValidationMode = .strict, hashes: Bool = true,
        names: EntryNames = .told, progress: (@Sendable (ValidationProgress) -> Void)? = nil
    ) throws -> Verdict {
        let path = archive.path
        let before = try archive.fingerprint()
        if try archive.isPdf() {
            let work = PdfWork(program: executable, limits: limits, file: try archive.file(), pass: pass)
            return try work.judge(mode: mode) { pages in
                var done = ValidationProgress()
                done.pages = pages
                progress?(done)
            }
        }
        let verdict: Verdict
        do {
            if let rar = try unpackedRar(archive, names) {
                let zip = ArchiveSource.file(rar.zip)
                verdict = try examine(zip, unpackedFrom: rar, path, before, mode, hashes, names, progress).ofSolid
            } else {
                verdict = try examine(archive, path, before, mode, hashes, names, progress)
            }
        } catch let refusal as ComicRefusal {
            verdict = .refused(reason: refusal.reason, message: "\(path): \(refusal.message)")
        }
        guard try archive.fingerprint() == before else {
            throw Fault(.superseded, "\(path) was changed while it was read; it is judged again", path: path)
        }
        return verdict
    }

    /// - Parameter rar: if the archive was unpacked from a solid RAR.
    private func examine(
        _ archive: ArchiveSource, unpackedFrom rar: UnpackedRar? = nil, _ path: BytePath, _ fingerprint: Fingerprint,
        _ mode: ValidationMode, _ hashes: Bool, _ names: EntryNames,
        _ progress: (@Sendable (ValidationProgress) -> Void)?
    ) throws -> Verdict {
        var judge = ArchiveJudge(mode: mode, path: path, fingerprint: fingerprint)
        let words = ["inspect"] + (hashes ? ["hash"] : []) + names.words
        let process = try process(archive, words)
        var done = ValidationProgress()
        let outcome = try process.run { record in
            if let progress, done.consume(record) { progress(done) }
            return judge.consume(rar?.told(record) ?? record)
        }
        if let obstacle = try obstacle(outcome, path) { throw obstacle }
        return judge.verdict(rar?.ended(outcome) ?? outcome)
    }

    /// One page, in memory.
    ///
    /// - Parameter index: from 0, in reading order.
    /// - Returns: nil for the page if the index is out of range.
    /// - Throws: `Fault`, `ComicError.archive` if the comic has no pages or cannot be read.
    package func page(_ index: Int, of archive: ArchiveSource) throws -> (page: PageInMemory?, count: Int) {
        if try archive.isPdf() { return try drawnPage(index, of: archive.file()) }
        let archive = try readable(archive)
        let pages = try pageHeaders(list(archive))
        guard pages.indices.contains(index) else { return (nil, pages.count) }
        let position = pages[index].position
        let limit = Int(ArchiveLimits.maxUncompressedEntrySize)
        guard let bytes = try contents(archive, [position], limit: limit)[position] else {
            throw Fault(.refused, "page \(index + 1) of \(archive.path) is damaged", path: archive.path)
        }
        return (PageInMemory(name: BytePath(bytes: pages[index].path).name, bytes: bytes), pages.count)
    }

    private func drawnPage(_ index: Int, of file: Descriptor) throws -> (page: PageInMemory?, count: Int) {
        let work = PdfWork(program: executable, limits: limits, file: file)
        do {
            let pages = try work.pages()
            guard pages.indices.contains(index) else { return (nil, pages.count) }
            let target = try Descriptor(inMemory: PdfPage.name(index))
            _ = try work.draw(index, pages[index], into: target)
            let bytes = try target.readAll(limit: ArchiveLimits.maxUncompressedEntrySize)
            return (PageInMemory(name: PdfPage.name(index).name, bytes: bytes), pages.count)
        } catch let refusal as ComicRefusal {
            throw Fault(.refused, "\(file.path): \(refusal.message)", path: file.path, code: refusal.reason.rawValue)
        }
    }
}

/// A page as it was packed, or drawn.
package struct PageInMemory: Sendable {
    /// Its file's name in the archive.
    package let name: [UInt8]
    package let bytes: [UInt8]

    package init(name: [UInt8], bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
}
