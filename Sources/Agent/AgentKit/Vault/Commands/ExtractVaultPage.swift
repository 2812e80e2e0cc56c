import ComicArchive
import ComicVault
import FileActions
import Platform

/// `steward vault page`: outputs one page of a comic.
package struct ExtractVaultPage: VaultCommand {
    package static let name = "vault-page"
    /// Its name, its id, or the beginning of its id.
    private let comic: String
    /// From 1.
    private let page: Int

    package init(of comic: String, page: Int) { (self.comic, self.page) = (comic, page) }

    package func run(on vault: VaultContext) throws -> VaultSent {
        let entry = try vault.comic(comic)
        guard page > 0 else { throw VaultContext.countedFromOne }
        let found = try SealedMetadata.page(page - 1, of: entry.id, in: vault.sealed) ?? vault.opened(page - 1, entry)
        return try vault.send(VaultContext.check(found, page, entry), page, of: found.count, entry)
    }
}

/// `steward vault thumbnail`: outputs a small JPEG of a page or the cover.
package struct ExtractVaultThumbnail: VaultCommand {
    package static let name = "vault-thumbnail"
    /// Its name, its id, or the beginning of its id.
    private let comic: String
    /// From 1; nil for the cover.
    private let page: Int?

    package init(of comic: String, page: Int?) { (self.comic, self.page) = (comic, page) }

    package func run(on vault: VaultContext) throws -> VaultSent {
        let entry = try vault.comic(comic)
        if let page, page < 1 { throw VaultContext.countedFromOne }
        let index = page.map { $0 - 1 }
        if let sealed = try SealedMetadata.thumbnail(index, of: entry.id, in: vault.sealed) {
            return try vault.send(VaultContext.check(sealed, page ?? 1, entry), page, of: sealed.count, entry)
        }
        let found = try vault.opened(index ?? 0, entry)
        let picture = try VaultContext.check(found, page ?? 1, entry)
            .shrunk(to: page == nil ? .cover : .page, ArchiveWorker())
        return try vault.send(picture, page, of: found.count, entry)
    }
}

/// Single pages of sealed comics. Pages are decrypted in memory only, never on a disk.
extension VaultContext {
    fileprivate static func check(
        _ found: (page: PageInMemory?, count: Int), _ number: Int, _ entry: ComicEntry
    ) throws -> PageInMemory {
        guard let page = found.page else {
            throw Fault(
                .usage, "there is no page \(number): \(entry.name) has \(ComicText.count(found.count, "page"))")
        }
        return page
    }

    fileprivate func send(
        _ page: PageInMemory, _ number: Int?, of count: Int, _ entry: ComicEntry
    ) throws -> VaultSent {
        try page.bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
                try outlet.bytes(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 1 << 20, bytes.count)]))
            }
        }
        return VaultSent(
            id: entry.id, name: BytePath(bytes: page.name), page: number, pages: count, size: Int64(page.bytes.count))
    }

    /// For comics without a page index: the worker searches the archive for the page.
    fileprivate func opened(
        _ index: Int, _ entry: ComicEntry
    ) throws -> (page: PageInMemory?, count: Int) {
        let reader = try sealed.open(.archive, of: entry.id)
        let archive = try ArchiveSource.sealed(reader, entry.name) {
            try outlet.progress($0, reader.length, "opening")
        }
        do {
            return try ArchiveWorker().page(index, of: archive)
        } catch let error as ComicError {
            throw error.fault(entry.name)
        }
    }
}
