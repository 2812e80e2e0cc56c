import ComicActions
import ComicArchive
import ComicVault
import Platform

/// Single pages of sealed comics. What is opened lies in memory: no page touches a disk.
extension VaultOperations {
    func page(
        _ request: VaultRequest, _ entry: ComicEntry, _ vault: SealedVault, _ outlet: VaultOutlet
    ) throws -> VaultSent {
        guard let number = request.page, number > 0 else { throw Self.countedFromOne }
        let found =
            try SealedMetadata.page(number - 1, of: entry.id, in: vault)
            ?? wholeArchive(number - 1, entry, vault, outlet)
        return try send(Self.check(found, number, entry), number, of: found.count, entry, outlet)
    }

    /// A small JPEG of a page or the cover.
    func thumbnail(
        _ request: VaultRequest, _ entry: ComicEntry, _ vault: SealedVault, _ outlet: VaultOutlet
    ) throws -> VaultSent {
        let number = request.page
        if let number, number < 1 { throw Self.countedFromOne }
        let index = number.map { $0 - 1 }
        if let sealed = try SealedMetadata.thumbnail(index, of: entry.id, in: vault) {
            return try send(Self.check(sealed, number ?? 1, entry), number, of: sealed.count, entry, outlet)
        }
        let found = try wholeArchive(index ?? 0, entry, vault, outlet)
        let page = try Self.check(found, number ?? 1, entry)
        let picture = try page.shrunk(to: number == nil ? .cover : .page, ArchiveWorker())
        return try send(picture, number, of: found.count, entry, outlet)
    }

    static let countedFromOne = Fault(.usage, "pages are counted from 1")

    private static func check(
        _ found: (page: PageInMemory?, count: Int), _ number: Int, _ entry: ComicEntry
    ) throws -> PageInMemory {
        guard let page = found.page else {
            throw Fault(
                .usage, "there is no page \(number): \(entry.name) has \(ComicText.count(found.count, "page"))")
        }
        return page
    }

    private func send(
        _ page: PageInMemory, _ number: Int?, of count: Int, _ entry: ComicEntry, _ outlet: VaultOutlet
    ) throws -> VaultSent {
        try page.bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
                try outlet.bytes(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 1 << 20, bytes.count)]))
            }
        }
        return VaultSent(
            id: entry.id, name: BytePath(bytes: page.name), page: number, pages: count, size: Int64(page.bytes.count))
    }

    /// For comics of which nobody knows where their pages stand: the worker looks for the page in the archive.
    private func wholeArchive(
        _ index: Int, _ entry: ComicEntry, _ vault: SealedVault, _ outlet: VaultOutlet
    ) throws -> (page: PageInMemory?, count: Int) {
        let reader = try vault.open(.archive, of: entry.id)
        let archive = try ArchiveSource.sealed(reader, entry.name) {
            try outlet.progress($0, reader.length, "opening")
        }
        do {
            return try ArchiveWorker().page(index, of: archive)
        } catch let error as InkyPanelsError {
            throw error.fault(entry.name)
        }
    }
}
