/// The tags of a picture's EXIF data by their numbers (CIPA DC-008), read in place.
///
/// The bytes come from outside: every offset is checked, every loop bounded, and anything invalid counts as "none".
package struct ExifTags {
    /// The directories that contain tags.
    package enum Directory {
        case main, exif, gps
    }

    private struct Entry {
        let type: Int
        let count: Int
        /// The offset of the four bytes with the value or its offset.
        let position: Int
    }

    private let picture: PictureBytes
    private let base: Int
    private let isLittle: Bool

    /// - Returns: nil if the picture has no EXIF data.
    /// - Throws: errors from reading the picture.
    package init?(_ picture: PictureBytes) throws {
        guard let base = try ExifBlock.start(picture) else { return nil }
        switch try picture.bytes(at: base, count: 4) {
        case [0x49, 0x49, 0x2A, 0x00]: isLittle = true
        case [0x4D, 0x4D, 0x00, 0x2A]: isLittle = false
        default: return nil
        }
        self.picture = picture
        self.base = base
    }

    /// When the picture was taken, or else digitized.
    ///
    /// - Returns: the camera's clock, `2026:07:01 10:00:05`, and its offset from UTC if recorded, `+02:00`. Neither is
    ///   checked further. nil if there is no time, or the clock was never set.
    package func taken() throws -> (clock: String, offset: String?)? {
        // Each clock has an offset of its own; 0x9010 is that of the last change.
        for (clock, offset) in [(0x9003, 0x9011), (0x9004, 0x9012)] as [(Int, Int)] {
            guard let time = try text(clock, .exif) else { continue }
            guard let year = Int(time.prefix(4)), year >= Self.firstPhotograph else { return nil }
            return (time, try text(offset, .exif))
        }
        return nil
    }

    /// The year of Niépce's; a clock that was never set shows 1601 and the like.
    private static let firstPhotograph = 1826

    /// A text, up to its first NUL, trimmed.
    ///
    /// - Parameter limit: the most bytes. A longer text counts as none, as does one with control characters or invalid
    ///   UTF-8.
    package func text(_ tag: Int, _ directory: Directory, limit: Int = 256) throws -> String? {
        guard let entry = try entry(tag, directory), entry.type == 2 || entry.type == 129,
            (1...limit).contains(entry.count)
        else { return nil }
        let start = entry.count <= 4 ? entry.position : try number(at: entry.position, width: 4)
        guard let start, let bytes = try picture.bytes(at: base + start, count: entry.count) else { return nil }
        let text = bytes.prefix { $0 != 0 }
        guard text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), let string = String(validating: text, as: UTF8.self) else {
            return nil
        }
        var trimmed = string[...]
        while trimmed.last == " " { trimmed.removeLast() }
        return String(trimmed.drop { $0 == " " })
    }

    /// An integer: a byte, a short or a long.
    package func integer(_ tag: Int, _ directory: Directory) throws -> Int? {
        guard let entry = try entry(tag, directory), entry.count >= 1 else { return nil }
        switch entry.type {
        case 1: return try number(at: entry.position, width: 1)
        case 3: return try number(at: entry.position, width: 2)
        case 4: return try number(at: entry.position, width: 4)
        default: return nil
        }
    }

    /// That many fractions; nil if there are fewer, or one is invalid.
    package func fractions(_ tag: Int, _ directory: Directory, count: Int) throws -> [Double]? {
        guard let entry = try entry(tag, directory), entry.type == 5, entry.count >= count,
            let start = try number(at: entry.position, width: 4)
        else { return nil }
        var found: [Double] = []
        for index in 0..<count {
            guard let above = try number(at: start + 8 * index, width: 4),
                let below = try number(at: start + 8 * index + 4, width: 4), below > 0
            else { return nil }
            found.append(Double(above) / Double(below))
        }
        return found
    }

    private func entry(_ tag: Int, _ directory: Directory) throws -> Entry? {
        guard let main = try number(at: 4, width: 4) else { return nil }
        let pointer: Int
        switch directory {
        case .main: return try entry(tag, in: main)
        case .exif: pointer = 0x8769
        case .gps: pointer = 0x8825
        }
        guard let found = try entry(pointer, in: main), found.type == 4 || found.type == 13,
            let start = try number(at: found.position, width: 4)
        else { return nil }
        return try entry(tag, in: start)
    }

    private func entry(_ tag: Int, in directory: Int) throws -> Entry? {
        guard let count = try number(at: directory, width: 2) else { return nil }
        for index in 0..<min(count, 1000) {
            let at = directory + 2 + index * 12
            guard let found = try number(at: at, width: 2) else { return nil }
            guard found == tag else { continue }
            guard let type = try number(at: at + 2, width: 2), let values = try number(at: at + 4, width: 4) else {
                return nil
            }
            return Entry(type: type, count: values, position: at + 8)
        }
        return nil
    }

    private func number(at offset: Int, width: Int) throws -> Int? {
        guard let part = try picture.bytes(at: base + offset, count: width) else { return nil }
        return isLittle ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
    }
}
