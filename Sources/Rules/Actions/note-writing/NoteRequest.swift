import A4CoreSwift
import Foundation
import Glibc
import Ledger
import Platform
import Rules

/// A block that a step wants in a note.
package struct NoteRequest: Codable, Sendable, Equatable {
    /// The step that asks; its block is written once.
    package var step: String
    /// Absolute.
    package var note: BytePath
    /// The A4 vault's root; the note lies within it, links included.
    package var root: BytePath
    package var heading: String
    /// The token asked for; the note may hold it already, then a suffix is added.
    package var token: String
    /// UTF-8, without control characters that would begin another block.
    package var content: IntentText
    package var atEndOfFile: Bool
    /// What a note that does not exist starts from; empty for nothing.
    package var starter: IntentText
    /// The permissions of the file that the block was made from: a note that does not exist gets no wider ones.
    package var mode: mode_t?
    /// Blocks that are written together stand in this order: the arrivals', in nanoseconds.
    package var order: Int64

    package init(
        step: String, note: BytePath, root: BytePath, heading: String, token: String, content: String,
        atEndOfFile: Bool,
        starter: String, mode: mode_t? = nil, order: Int64 = 0
    ) {
        self.mode = mode
        self.step = step
        self.note = note
        self.root = root
        self.heading = heading
        self.token = token
        self.content = IntentText(content, isForUndo: true)
        self.atEndOfFile = atEndOfFile
        self.starter = IntentText(starter)
        self.order = order
    }
}

/// What a note becomes when several blocks go into it: pure.
struct ComposedNote: Sendable {
    let bytes: [UInt8]
    let blocks: [NoteBlockRecord]

    /// Appends the requests' blocks in order, each under an anchor that the note does not hold yet.
    ///
    /// - Parameter reserved: tokens of blocks that a save may have wiped and that are to come back under them.
    /// - Throws: `Fault(.failed)` where the note is not UTF-8 or A4 refuses a heading.
    init(_ note: [UInt8], _ requests: [NoteRequest], device: String, reserved: Set<String> = []) throws {
        do {
            let data = Data(note)
            let present = Set(Anchors.tokens(in: data).map(\.token)).union(
                try reserved.map { try AnchorToken(parse: $0) })
            var held = HeldTokens(present, device: device)
            var blocks: [NoteBlockRecord] = []
            var options: [AppendOptions] = []
            for request in requests {
                let token = try held.reserve(AnchorToken(parse: request.token))
                blocks.append(NoteBlockRecord(step: request.step, token: token.description))
                options.append(
                    AppendOptions(
                        heading: request.heading, anchor: token, content: Data(try request.content.text().utf8),
                        placement: request.atEndOfFile ? .endOfFile : .endOfSection))
            }
            bytes = Array(try Append.appending(options, to: data))
            self.blocks = blocks
        } catch let error as A4Error {
            throw Fault(
                .failed, "\(requests.first?.note.description ?? "a note"): \(error)", path: requests.first?.note)
        }
    }
}

/// The tokens of a note, and the next free suffix of each minute, so that ten thousand blocks of one minute do not look
/// for a free name ten thousand times each.
private struct HeldTokens {
    private var tokens: Set<AnchorToken>
    private var nextNumber: [AnchorToken: Int] = [:]
    private let device: String

    init(_ tokens: Set<AnchorToken>, device: String) {
        self.tokens = tokens
        self.device = device
    }

    mutating func reserve(_ wanted: AnchorToken) throws -> AnchorToken {
        var token = wanted
        let name = wanted.suffix ?? device
        var number = nextNumber[wanted] ?? 0
        while tokens.contains(token) {
            number += 1
            token = try AnchorToken(
                prefix: wanted.prefix, hhmm: wanted.hhmm, suffix: number == 1 ? name : "\(name)-\(number)")
        }
        nextNumber[wanted] = number
        tokens.insert(token)
        return token
    }
}
