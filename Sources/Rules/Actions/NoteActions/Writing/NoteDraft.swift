import A4CoreSwift
import Foundation
import Ledger
import Platform
import Rules
import Synchronization

/// A note with several blocks added.
struct ComposedNote: Sendable {
    let bytes: [UInt8]
    let blocks: [NoteBlockRecord]
}

extension ComposedNote {
    /// Reads and composes a note once; see ``NoteDraft/append(_:device:reserved:)``.
    init(_ note: [UInt8], _ requests: [NoteRequest], device: String, reserved: Set<String> = []) throws {
        var draft = try NoteDraft(note, of: requests.first?.note)
        blocks = try draft.append(requests, device: device, reserved: reserved)
        bytes = draft.contents
    }
}

/// A parsed note between two versions. Reusing it spares a hundred writes of ten thousand blocks from parsing the
/// existing text a hundred times. Pure.
struct NoteDraft: Sendable {
    private var note: AppendableNote
    /// The next free number of each minute, to avoid a linear search per block.
    private var nextNumber: [AnchorToken: Int] = [:]

    /// - Throws: `Fault(.failed)` if the note is not UTF-8.
    init(_ bytes: [UInt8], of note: BytePath?) throws {
        self.note = try Self.translating(note) { try AppendableNote(bytes) }
    }

    /// Appends the requests' blocks in order, each under an anchor that is not yet in the note.
    ///
    /// - Parameter reserved: tokens of lost blocks that may come back under them.
    /// - Throws: `Fault(.failed)` if A4 rejects a heading or text; nothing is appended then.
    mutating func append(
        _ requests: [NoteRequest], device: String, reserved: Set<String> = []
    ) throws -> [NoteBlockRecord] {
        try Self.translating(requests.first?.note) {
            var held = try Set(reserved.map { try AnchorToken(parse: $0) })
            var blocks: [NoteBlockRecord] = []
            var options: [AppendOptions] = []
            for request in requests {
                let token = try free(AnchorToken(parse: request.token), device: device, besides: held)
                held.insert(token)
                // At the end of the file a block is below whatever heading comes last.
                let madeHeading = request.atEndOfFile || note.holds(heading: request.heading) ? nil : request.heading
                blocks.append(
                    NoteBlockRecord(step: request.step, token: token.description, madeHeading: madeHeading))
                options.append(
                    AppendOptions(
                        heading: request.heading, anchor: token, content: Data(try request.content.text().utf8),
                        placement: request.atEndOfFile ? .endOfFile : .endOfSection))
            }
            try note.append(options)
            return blocks
        }
    }

    /// The note's current bytes.
    var contents: [UInt8] { note.contents }

    /// Size in bytes.
    var count: Int {
        var count = 0
        note.forEachPart { count += $0.count }
        return count
    }

    /// Hash of the contents.
    var hash: ContentHash {
        var hasher = StreamingHash()
        note.forEachPart { hasher.update($0) }
        return hasher.finish()
    }

    /// The difference to a file, from the first byte that differs.
    ///
    /// - Returns: the offset of that byte, the file's rest, and the draft's rest.
    func change(of file: Descriptor) throws -> (position: Int64, old: [UInt8], new: [UInt8]) {
        var position: Int64 = 0
        var new: [UInt8] = []
        var isSame = true
        try note.forEachPart { part in
            let same = try isSame ? LeasedFile.commonStart(of: part, with: file, at: position) : 0
            position += Int64(same)
            isSame = isSame && same == part.count
            new += part[same...]
        }
        let rest = try file.status().size - position
        return (position, try file.read(at: position, count: Int(max(0, rest))), new)
    }

    private mutating func free(
        _ wanted: AnchorToken, device: String, besides held: Set<AnchorToken>
    ) throws -> AnchorToken {
        var token = wanted
        var number = nextNumber[wanted] ?? 0
        let name = wanted.suffix ?? device
        while note.mayHold(token) || held.contains(token) {
            number += 1
            token = try AnchorToken(
                prefix: wanted.prefix, hhmm: wanted.hhmm, suffix: number == 1 ? name : "\(name)-\(number)")
        }
        nextNumber[wanted] = number
        return token
    }

    private static func translating<R>(_ note: BytePath?, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as A4Error {
            throw Fault(.failed, "\(note?.description ?? "a note"): \(error)", path: note)
        }
    }
}

/// Cache of the last written draft, for the next write.
final class LastDraft: Sendable {
    /// Maximum size in bytes of a draft to keep for a later write. A daily note is smaller.
    private static let small = 256 << 10

    private let last = Mutex<(hash: ContentHash, draft: NoteDraft)?>(nil)

    /// Takes the draft of the version with that hash out of the cache.
    func take(_ hash: ContentHash) -> NoteDraft? {
        last.withLock { last in
            defer { last = nil }
            return last?.hash == hash ? last?.draft : nil
        }
    }

    /// Whether it is of the version with that hash.
    func holds(_ hash: ContentHash) -> Bool { last.withLock { $0?.hash == hash } }

    /// Whether it is small enough to keep.
    var isSmall: Bool { last.withLock { ($0?.draft.count ?? 0) <= Self.small } }

    func keep(_ draft: NoteDraft, _ hash: ContentHash) { last.withLock { $0 = (hash, draft) } }
}
