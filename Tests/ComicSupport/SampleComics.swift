import CArchive
import ComicArchive
import Foundation
import OwnFiles
import Platform
import TestSupport

/// The worker that was built beside the tests.
package func builtWorker() throws -> ArchiveWorker {
    try ArchiveWorker(program: Built.program("steward-worker"))
}

/// Whether libvips is installed: without it no thumbnails are made, and everything else works.
package let hasThumbnails: Bool = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].contains { root in
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return ([""] + folders).contains { FileManager.default.fileExists(atPath: "\(root)/\($0)/libvips.so.42") }
}

/// The folder of foreign archives beside a checkout; nil if it is absent.
package func sharedArchives() -> [BytePath] {
    let root = URL(fileURLWithPath: Checkout.root.parent.appending("shared/fixtures/archives").text)
    let names = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    return names.sorted().map { BytePath(root.appendingPathComponent($0).path) }.filter {
        $0.nameText != "README.md" && (try? FileStatus.of($0))??.kind == .file
    }
}

/// One entry of an archive that a test packs.
package struct Packed {
    package var name: String
    package var bytes: [UInt8] = []
    package var link: String?

    package init(name: String, bytes: [UInt8] = [], link: String? = nil) {
        self.name = name
        self.bytes = bytes
        self.link = link
    }
}

/// A small picture, different for each number: a PNG header followed by noise.
package func picture(_ number: Int, size: Int = 3000) -> [UInt8] {
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
    bytes += [0, 0, 3, 0x20, 0, 0, 4, 0xB0, 8, 2, 0, 0, 0] + [0, 0, 0, 0]
    var state = UInt32(truncatingIfNeeded: number &* 7919 &+ 1)
    while bytes.count < size {
        state = state &* 1_664_525 &+ 1_013_904_223
        bytes.append(UInt8(truncatingIfNeeded: state >> 24))
    }
    return bytes
}

/// A small picture like ``picture(_:size:)`` that packs to about half.
package func drawing(_ number: Int, size: Int = 4000) -> [UInt8] {
    let noise = picture(number, size: size)
    return noise.prefix(33) + noise.dropFirst(33).enumerated().map { $0 % 64 < 16 ? 0x20 : $1 & 31 }
}

package enum Packing: String, CaseIterable {
    case storedZip, deflatedZip, sevenZip, copiedSevenZip, tar
}

/// Packs with libarchive's writer.
package func pack(_ entries: [Packed], _ packing: Packing, to path: BytePath) throws {
    guard let archive = archive_write_new() else { throw TestFailure("no archive") }
    defer { archive_write_free(archive) }
    switch packing {
    case .storedZip:
        archive_write_set_format_zip(archive)
        archive_write_zip_set_compression_store(archive)
    case .deflatedZip: archive_write_set_format_zip(archive)
    case .sevenZip: archive_write_set_format_7zip(archive)
    case .copiedSevenZip:
        archive_write_set_format_7zip(archive)
        archive_write_set_options(archive, "compression=store")
    case .tar: archive_write_set_format_pax_restricted(archive)
    }
    guard archive_write_open_filename(archive, path.text) == ARCHIVE_OK else { throw TestFailure("cannot write") }
    for item in entries {
        let entry = archive_entry_new()
        defer { archive_entry_free(entry) }
        archive_entry_copy_pathname(entry, item.name)
        archive_entry_set_perm(entry, 0o644)
        if let link = item.link {
            archive_entry_set_filetype(entry, 0o120_000)
            archive_entry_copy_symlink(entry, link)
        } else {
            archive_entry_set_filetype(entry, 0o100_000)
            archive_entry_set_size(entry, Int64(item.bytes.count))
        }
        guard archive_write_header(archive, entry) == ARCHIVE_OK else { throw TestFailure("cannot write a header") }
        if item.link == nil { _ = item.bytes.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, $0.count) } }
    }
    guard archive_write_close(archive) == ARCHIVE_OK else { throw TestFailure("cannot finish") }
}

/// The bytes of an archive packed by libarchive's writer.
package func packed(_ entries: [Packed], _ packing: Packing = .storedZip) throws -> [UInt8] {
    let folder = try TemporaryFolder("packed")
    let path = folder.path.appending("archive")
    try pack(entries, packing, to: path)
    return try Descriptor(path).readAll(limit: 1 << 30)
}

/// A ZIP in which each entry claims to be encrypted.
package func saidToBeEncrypted(_ zip: [UInt8]) -> [UInt8] {
    var bytes = zip
    for index in bytes.indices.dropLast(10) {
        if bytes[index...].starts(with: [0x50, 0x4B, 3, 4]) { bytes[index + 6] |= 1 }
        if bytes[index...].starts(with: [0x50, 0x4B, 1, 2]) { bytes[index + 8] |= 1 }
    }
    return bytes
}

extension Verdict {
    /// `accepted`, or the reason of the refusal.
    package var word: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let reason, _): reason.rawValue
        }
    }

    package var report: ComicReport? { if case .accepted(let report) = self { report } else { nil } }

    package var message: String { if case .refused(_, let message) = self { message } else { "" } }
}
