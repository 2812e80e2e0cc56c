import CLinux
import Glibc
import Platform
import Sandbox

/// The worker's command `thumbnail`: turns pictures into small JPEGs, in its own cage.
///
/// - `archive WIDTH HEIGHT POSITION...`: of these entries of the archive on descriptor 3, in the archive's order.
/// - `decode POSITION...`: decodes every pixel of these entries once, without output.
/// - `pictures WIDTH HEIGHT FIRST LENGTH...`: of the pictures concatenated in the file on descriptor 3, from number
///   FIRST (counting from 0).
/// - `convert FORMAT QUALITY WIDTH HEIGHT`: of the single picture on descriptor 3, in that format.
/// - `probe WHAT`: breaks one rule of the cage, to prove that it holds.
///
/// For each picture, an empty `bytes` record announces that it was begun; `bytes` and `content` are the result. Without
/// libvips, the process exits silently with ``WorkerStatus/notInstalled``.
enum ThumbnailPass {
    static func main(_ words: [String], archive: LibraryArchive, bytes: HandedFile, output: RecordOutput) -> Never {
        if words.first == "convert" { convert(words.dropFirst(), bytes, output) }
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard let mode = words.first, mode == "probe" || numbers.count >= (mode == "decode" ? 1 : 3),
            numbers.allSatisfy({ $0 >= 0 })
        else { _exit(64) }
        enter(pictures: mode == "decode" ? numbers.count : max(0, numbers.count - 2), bytes, .jpeg, output)
        if mode == "probe" { ThumbnailProbe.run(words.dropFirst().first ?? "") }
        let size = mode == "decode" ? nil : ThumbnailSize(width: numbers[0], height: numbers[1])
        let easel = Easel(wish: size?.wish, output: output)
        do {
            switch mode {
            case "decode":
                try ThumbnailWalk(archive: archive, bytes: bytes, easel: easel).run(Set(numbers))
            case "archive":
                try ThumbnailWalk(archive: archive, bytes: bytes, easel: easel).run(
                    Set(numbers.dropFirst(2)))
            case "pictures": try pictures(bytes, first: numbers[2], lengths: Array(numbers.dropFirst(3)), easel)
            default: _exit(64)
            }
        } catch {
            output.send(.end(WorkerEnd(reason: .unreadable, message: explain(error))))
        }
        _exit(0)
    }

    /// Closes the cage, or exits.
    private static func enter(
        pictures count: Int, _ bytes: HandedFile, _ format: PictureRequest.Format, _ output: RecordOutput
    ) {
        do {
            try ThumbnailCage.enter(pictures: count, asks: bytes.isAsked, format: format)
        } catch is ThumbnailCage.Absent {
            _exit(WorkerStatus.notInstalled)
        } catch {
            output.send(.end(WorkerEnd(reason: .noCage, message: explain(error))))
            _exit(70)
        }
    }

    private static func convert(
        _ words: ArraySlice<String>, _ bytes: HandedFile, _ output: RecordOutput
    ) -> Never {
        guard let wish = PictureRequest(words: words) else { _exit(64) }
        enter(pictures: 100, bytes, wish.format, output)
        do {
            let easel = Easel(wish: wish, output: output)
            try pictures(bytes, first: 0, lengths: [Int(min(bytes.size, Int64(Int.max)))], easel)
        } catch {
            output.send(.end(WorkerEnd(reason: .unreadable, message: explain(error))))
        }
        _exit(0)
    }

    private static func pictures(_ bytes: HandedFile, first: Int, lengths: [Int], _ easel: Easel) throws {
        var offset: Int64 = 0
        for (index, length) in lengths.enumerated() {
            defer { offset += Int64(length) }
            guard index >= first else { continue }
            easel.begin(index)
            guard length <= ArchiveLimits.maxUncompressedEntrySize else {
                easel.fail(index, "it has more bytes than a page may have")
                continue
            }
            easel.paint(index, try bytes.read(at: offset, count: length))
        }
        easel.output.send(.end(WorkerEnd(reason: .complete, message: "")))
    }
}

/// Makes and sends one thumbnail at a time.
struct Easel {
    /// nil if pictures are only decoded.
    let wish: PictureRequest?
    let output: RecordOutput

    func begin(_ position: Int) { output.send(.bytes(position: position, [])) }

    /// A library may fail without a message; people get one anyway.
    func fail(_ position: Int, _ message: String) {
        let message = message.isEmpty ? "it cannot be decoded" : message
        output.send(.content(content(position, .damaged, 0, message)))
    }

    /// Checks the header before decoding anything: a file of 69 bytes may claim four billion pixels.
    func paint(_ position: Int, _ picture: [UInt8]) {
        switch ImageHeader.examine(picture) {
        case .found(let header) where header.isTooLarge:
            return fail(position, "it claims \(header.width) × \(header.height) pixels")
        case .found: break
        case .beyond: return fail(position, "it is cut short")
        case .damaged(let format, let reason): return fail(position, "its \(format.rawValue) header: \(reason)")
        case .unknown: return fail(position, "it is no picture that is known")
        }
        var message = [CChar](repeating: 0, count: 301)
        guard let wish else {
            let sight = steward_picture_look(
                picture, UInt64(picture.count), UInt64(ImageHeader.sideLimit), UInt64(ImageHeader.pixelLimit), &message,
                300)
            let what = BytePath.escape(message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
            if sight == STEWARD_PICTURE_NOTHING { return fail(position, what) }
            return output.send(.content(content(position, .whole, 0, sight == STEWARD_PICTURE_WHOLE ? "" : what)))
        }
        var (made, length): (UnsafeMutableRawPointer?, UInt64) = (nil, 0)
        let code = steward_picture_shrink(
            picture, UInt64(picture.count), Int32(wish.width), Int32(wish.height), wish.format.number,
            Int32(wish.quality), UInt64(ImageHeader.sideLimit), UInt64(ImageHeader.pixelLimit), &made, &length,
            &message,
            300)
        guard code == 0, let made else {
            return fail(position, BytePath.escape(message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }))
        }
        let bytes = UnsafeRawBufferPointer(start: made, count: Int(length))
        for start in stride(from: 0, to: bytes.count, by: 262_144) {
            let part = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 262_144, bytes.count)])
            output.send(.bytes(position: position, Array(part)))
        }
        output.send(.content(content(position, .whole, Int64(bytes.count), "")))
        steward_picture_free(made)
    }

    private func content(
        _ position: Int, _ state: EntryContent.State, _ size: Int64, _ message: String
    ) -> EntryContent {
        EntryContent(position: position, state: state, size: size, crc32: 0, hash: nil, image: nil, message: message)
    }
}

/// Extracts pages from an archive in one pass, so that a solid one is read only once.
struct ThumbnailWalk {
    let archive: LibraryArchive
    let bytes: HandedFile
    let easel: Easel

    func run(_ wanted: Set<Int>) throws {
        let scan = try StructureScan.of(bytes)
        let structure = scan.structure
        // The agent then allows the time for a solid archive.
        if structure.traits.contains(.solid) { easel.output.send(.structure(structure)) }
        guard archive.open(as: structure.format, to: scan.end) else { return finish(.unreadable) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 262_144, alignment: 64)
        defer { buffer.deallocate() }
        var left = wanted.count
        var position = 0
        while left > 0 {
            let step = archive.next()
            if step == .end { return finish(.complete) }
            if step == .fatal { return finish(.unreadable) }
            defer { position += 1 }
            if position > ArchiveLimits.maxHeaderCount { return finish(.tooManyHeaders) }
            guard wanted.contains(position) else { continue }
            left -= 1
            easel.begin(position)
            if step == .badEntry {
                easel.fail(position, archive.error)
            } else {
                paint(position, buffer)
            }
        }
        finish(.complete)
    }

    private func paint(_ position: Int, _ buffer: UnsafeMutableRawBufferPointer) {
        let header = archive.header(at: position)
        guard header.kind == .file, !header.isEncrypted else {
            return easel.fail(position, header.isEncrypted ? "it is encrypted" : "it is no file")
        }
        var picture: [UInt8] = []
        while true {
            let got = archive.read(into: buffer)
            if got == 0 { return easel.paint(position, picture) }
            if got < 0 { return easel.fail(position, archive.error) }
            picture += UnsafeRawBufferPointer(rebasing: buffer[..<got])
            if picture.count > ArchiveLimits.maxUncompressedEntrySize {
                return easel.fail(position, "it has more bytes than a page may have")
            }
        }
    }

    private func finish(_ reason: WorkerEnd.Reason) {
        easel.output.send(.end(WorkerEnd(reason: reason, message: reason == .unreadable ? archive.error : "")))
    }
}
