import ComicArchive
import ComicVault
import Foundation
import Platform

/// Single pages and thumbnails of a comic in a vault, at the cost of one page. All calls block and stay in memory.
extension SealedMetadata {
    /// - Returns: nil if the comic has no metadata object.
    package static func read(_ comic: ComicID, in vault: SealedVault) throws -> SealedMetadata? {
        guard try vault.comic(comic).object(.metadata) != nil else { return nil }
        let reader = try vault.open(.metadata, of: comic)
        let bytes = try reader.read(at: 0, count: Int(min(reader.length, 64 << 20)))
        return try JSONDecoder().decode(SealedMetadata.self, from: Data(bytes))
    }

    /// One page, from the page pack or from its offset in the archive.
    ///
    /// - Parameters:
    ///   - index: from 0, in reading order.
    ///   - worker: called only if the page has to be inflated.
    /// - Returns: nil if only the whole archive can yield the page: a PDF's, a damaged one, or one sealed without page
    ///   notes. `page` alone is nil if the index is out of range.
    package static func page(
        _ index: Int, of comic: ComicID, in vault: SealedVault,
        worker: () throws -> ArchiveWorker = { try ArchiveWorker() }
    ) throws -> (page: PageInMemory?, count: Int)? {
        try read(comic, in: vault)?.page(index, of: comic, in: vault, worker)
    }

    func page(
        _ index: Int, of comic: ComicID, in vault: SealedVault, _ worker: () throws -> ArchiveWorker
    ) throws -> (page: PageInMemory?, count: Int)? {
        guard pages.indices.contains(index) else { return pages.isEmpty ? nil : (nil, pages.count) }
        let page = pages[index]
        guard page.damage == nil, page.size <= ArchiveLimits.maxUncompressedEntrySize,
            let bytes = try page.bytes(of: vault.comic(comic), in: vault, worker)
        else { return nil }
        return (PageInMemory(name: BytePath(bytes: BytePath.unescape(page.name)).name, bytes: bytes), pages.count)
    }

    /// A small JPEG of a page or the cover: the sealed thumbnail if there is one, otherwise made now.
    ///
    /// - Parameter index: from 0; nil for the cover.
    /// - Returns: nil as ``page(_:of:in:worker:)``, also if the comic has no cover.
    /// - Throws: `Fault` if a thumbnail has to be made and libvips is not installed, or the page is not a picture.
    package static func thumbnail(
        _ index: Int?, of comic: ComicID, in vault: SealedVault,
        worker: () throws -> ArchiveWorker = { try ArchiveWorker() }
    ) throws -> (page: PageInMemory?, count: Int)? {
        guard let sealed = try read(comic, in: vault) else { return nil }
        let size = index == nil ? ThumbnailSize.cover : .page
        let names = sealed.pages.map { BytePath.unescape($0.name) }
        guard let number = index ?? PageLayout.cover(of: names, stated: sealed.metadata.pages) else { return nil }
        if let known = sealed.thumbnails.first(where: { $0.size == size && (index == nil || $0.page == number) }),
            let jpeg = try known.bytes(of: comic, in: vault)
        {
            let name = names.indices.contains(known.page) ? BytePath(bytes: names[known.page]).name : []
            return (PageInMemory(name: name, bytes: jpeg), sealed.pages.count)
        }
        guard let (found, count) = try sealed.page(number, of: comic, in: vault, worker) else { return nil }
        guard let found else { return (nil, count) }
        return (try found.shrunk(to: size, worker()), count)
    }
}

extension PageInMemory {
    /// - Throws: `Fault` if libvips is not installed or cannot read the page.
    package func shrunk(to size: ThumbnailSize, _ worker: ArchiveWorker) throws -> PageInMemory {
        switch try ThumbnailWorker(worker).shrink(opened: [bytes], to: size).first {
        case .made(let jpeg)?: return PageInMemory(name: name, bytes: jpeg)
        case .failed(let why)?: throw Fault(.refused, "no thumbnail of \(BytePath(bytes: name)): \(why)")
        case nil: throw Fault(.failed, "no thumbnail of \(BytePath(bytes: name)) was made; please report it")
        }
    }
}

extension SealedMetadata.Page {
    fileprivate func bytes(
        of entry: ComicEntry, in vault: SealedVault, _ worker: () throws -> ArchiveWorker
    ) throws -> [UInt8]? {
        if let offset, entry.object(.pagePack) != nil {
            let bytes = try vault.open(.pagePack, of: entry.id).read(at: offset, count: Int(size))
            return bytes.count == size ? bytes : nil
        }
        guard let place, place.size <= ArchiveLimits.maxUncompressedEntrySize else { return nil }
        let packed = try vault.open(.archive, of: entry.id).read(at: place.offset, count: Int(place.size))
        return try place.unpack(packed, to: size, with: worker)
    }
}

extension SealedMetadata.Thumbnail {
    fileprivate func bytes(of comic: ComicID, in vault: SealedVault) throws -> [UInt8]? {
        guard try vault.comic(comic).object(.thumbnails) != nil, length > 0 else { return nil }
        let bytes = try vault.open(.thumbnails, of: comic).read(at: Int64(offset), count: length)
        return bytes.count == length ? bytes : nil
    }
}
