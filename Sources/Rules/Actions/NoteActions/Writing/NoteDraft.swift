import A4CoreSwift
import Foundation
import Ledger
import Platform
import Rules
import Synchronization

/// What a note becomes when several blocks go into it.
struct ComposedNote: Sendable {
    let bytes: [UInt8]
    let blocks: [NoteBlockRecord]
}

extension ComposedNote {
    /// What becomes of a note that is read for this alone; see ``NoteDraft/append(_:device:reserved:)``.
    init(_ note: [UInt8], _ requests: [NoteRequest], device: String, reserved: Set<String> = []) throws {
        var draft = try NoteDraft(note, of: requests.first?.note)
        blocks = try draft.append(requests, device: device, reserved: reserved)
        bytes = draft.contents
    }
}

/// A note on its way from one version to the next, with what is known of its text: ten thousand blocks that come in a hundred
/// writes are no reason to read what was there before a hundred times. Pure.
struct NoteDraft: Sendable {
    private var note: AppendableNote
    /// The next free number of each minute, so that ten thousand blocks of one minute do not look for a free name ten
    /// thousand times each.
    private var nextNumber: [AnchorToken: Int] = [:]

    /// - Throws: `Fault(.failed)` where the note is not UTF-8.
    init(_ bytes: [UInt8], of note: BytePath?) throws {
        self.note = try Self.translating(note) { try AppendableNote(bytes) }
    }

    /// Appends the requests' blocks in order, each under an anchor that the note does not hold yet.
    ///
    /// - Parameter reserved: tokens of blocks that a save may have wiped and that are to come back under them.
    /// - Throws: `Fault(.failed)` where A4 refuses a heading or a text; then nothing is appended.
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
                // At the end of the note a block stands below whatever heading is the last one there.
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

    /// The note as it is now.
    var contents: [UInt8] { note.contents }

    /// Bytes that it has.
    var count: Int {
        var count = 0
        note.forEachPart { count += $0.count }
        return count
    }

    /// Their hash.
    var hash: ContentHash {
        var hasher = StreamingHash()
        note.forEachPart { hasher.update($0) }
        return hasher.finish()
    }

    /// What stands there from the first byte on that a file has otherwise, or has not.
    ///
    /// - Returns: where that byte is, what follows in the file, and what follows here.
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

/// The draft of the version that was written last, for the next write.
final class LastDraft: Sendable {
    /// Bytes of a note whose draft may stay in memory for a write that comes later. A day's note is smaller.
    private static let small = 256 << 10

    private let last = Mutex<(hash: ContentHash, draft: NoteDraft)?>(nil)

    /// The draft of the version with that hash; from then on it is the caller's.
    func take(_ hash: ContentHash) -> NoteDraft? {
        last.withLock { last in
            defer { last = nil }
            return last?.hash == hash ? last?.draft : nil
        }
    }

    /// Whether it is of the version with that hash.
    func holds(_ hash: ContentHash) -> Bool { last.withLock { $0?.hash == hash } }

    /// Whether it takes little memory.
    var isSmall: Bool { last.withLock { ($0?.draft.count ?? 0) <= Self.small } }

    func keep(_ draft: NoteDraft, _ hash: ContentHash) { last.withLock { $0 = (hash, draft) } }
}
