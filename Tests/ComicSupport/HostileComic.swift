/// An archive that is malicious, lies, or is broken, and the expected result.
package struct HostileComic: Sendable, CustomStringConvertible {
    package let name: String
    /// The possible results of a strict validation: `accepted`, or the reason for refusal. More than one if it depends
    /// on libarchive.
    package let words: [String]
    /// The only bytes that an accepted page may have.
    package let contents: [[UInt8]]
    package let make: @Sendable () throws -> [UInt8]

    package init(
        _ name: String, _ words: [String], contents: [[UInt8]] = [picture(1), picture(2)],
        make: @escaping @Sendable () throws -> [UInt8]
    ) {
        (self.name, self.words, self.contents, self.make) = (name, words, contents, make)
    }

    package init(
        _ name: String, _ word: String, contents: [[UInt8]] = [picture(1), picture(2)],
        make: @escaping @Sendable () throws -> [UInt8]
    ) {
        self.init(name, [word], contents: contents, make: make)
    }

    package var description: String { name }

    package static var all: [HostileComic] { names + links + sizes + bombs + crowds + shapes + pictures }
}

/// The formats that can be written by hand.
package enum RawFormat: String, CaseIterable, Sendable {
    case zip, tar, sevenZip, rar4, rar5

    /// - Returns: nil if the format cannot hold such a name.
    package func pack(_ entries: [(name: [UInt8], bytes: [UInt8])]) -> [UInt8]? {
        switch self {
        case .zip: return RawZip(entries.map { RawZip.Entry($0.name, $0.bytes) }).bytes
        case .tar: return RawTar(entries.map { RawTar.Entry($0.name, $0.bytes) }).bytes
        case .sevenZip:
            let names = entries.compactMap { String(validating: $0.name, as: UTF8.self) }
            guard names.count == entries.count else { return nil }
            return RawSevenZip(Swift.zip(names, entries).map { RawSevenZip.Entry($0, $1.bytes) }).bytes
        case .rar4: return RawRar(entries.map { RawRar.Entry($0.name, $0.bytes) }).four
        case .rar5: return RawRar(entries.map { RawRar.Entry($0.name, $0.bytes) }).five
        }
    }
}
