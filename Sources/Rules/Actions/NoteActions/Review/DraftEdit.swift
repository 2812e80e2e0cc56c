import Platform
import Rules

/// A change to a draft by answers, as the byte ranges that differ.
struct DraftEdit: Codable, Sendable, Equatable {
    struct Stretch: Codable, Sendable, Equatable {
        /// Byte offset in the text to change.
        let start: Int
        let old: IntentText
        let new: IntentText
    }

    let base: ContentHash
    let result: ContentHash
    /// In order.
    let stretches: [Stretch]

    /// Computes the differences, line by line if both texts have the same number of lines. Edits at the beginning and
    /// the end of a draft then do not cover everything in between.
    init(from one: String, to other: String) {
        let (before, after) = (Array(one.utf8), Array(other.utf8))
        base = ContentHash(of: before)
        result = ContentHash(of: after)
        let (old, new) = (Self.lines(before), Self.lines(after))
        guard old.count == new.count else {
            stretches = Self.stretch(before[...], after[...]).map { [$0] } ?? []
            return
        }
        stretches = zip(old, new).compactMap { Self.stretch($0, $1) }
    }

    private init(base: ContentHash, result: ContentHash, stretches: [Stretch]) {
        (self.base, self.result, self.stretches) = (base, result, stretches)
    }

    /// - Throws: if the ledger no longer holds its texts.
    func reversed() throws -> DraftEdit {
        var shift = 0
        let back = try stretches.map { stretch in
            let reversed = Stretch(start: stretch.start + shift, old: stretch.new, new: stretch.old)
            shift += try stretch.new.text().utf8.count - stretch.old.text().utf8.count
            return reversed
        }
        return DraftEdit(base: result, result: base, stretches: back)
    }

    /// - Returns: nil if the bytes are not the edit's base.
    /// - Throws: if the ledger no longer holds its texts.
    func applied(to bytes: [UInt8]) throws -> [UInt8]? {
        guard ContentHash(of: bytes) == base else { return nil }
        var changed: [UInt8] = []
        var place = 0
        for stretch in stretches {
            let end = stretch.start + (try stretch.old.text().utf8.count)
            guard place <= stretch.start, end <= bytes.count else { return nil }
            changed += bytes[place..<stretch.start] + Array(try stretch.new.text().utf8)
            place = end
        }
        changed += bytes[place...]
        return ContentHash(of: changed) == result ? changed : nil
    }

    /// Each with its line ending.
    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            line.endIndex < bytes.endIndex ? bytes[line.startIndex...line.endIndex] : line
        }
    }

    /// The smallest differing range on scalar boundaries; nil if the parts are equal.
    private static func stretch(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Stretch? {
        guard one != other else { return nil }
        let shorter = min(one.count, other.count)
        var head = zip(one, other).prefix { $0 == $1 }.count
        while head > 0, isWithinScalar(one, head) || isWithinScalar(other, head) { head -= 1 }
        var tail = min(zip(one.reversed(), other.reversed()).prefix { $0 == $1 }.count, shorter - head)
        while tail > 0, isWithinScalar(one, one.count - tail) || isWithinScalar(other, other.count - tail) { tail -= 1 }
        return Stretch(
            start: one.startIndex + head, old: text(one.dropFirst(head).dropLast(tail)),
            new: text(other.dropFirst(head).dropLast(tail)))
    }

    private static func isWithinScalar(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> Bool {
        offset < bytes.count && bytes[bytes.startIndex + offset] & 0b1100_0000 == 0b1000_0000
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> IntentText {
        IntentText(String(decoding: bytes, as: UTF8.self), isForUndo: true)
    }
}

/// An earlier version stored a single stretch, without a list.
extension DraftEdit {
    private enum CodingKeys: String, CodingKey {
        case base, result, stretches
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let listed = try container.decodeIfPresent([Stretch].self, forKey: .stretches)
        self.init(
            base: try container.decode(ContentHash.self, forKey: .base),
            result: try container.decode(ContentHash.self, forKey: .result),
            stretches: try listed ?? [Stretch(from: decoder)])
    }
}
