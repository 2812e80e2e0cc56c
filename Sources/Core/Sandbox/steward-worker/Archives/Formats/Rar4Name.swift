import Sandbox

/// The name of a file in a RAR 4 header: bytes in some legacy code page and, if flagged, after a NUL the same name in
/// UTF-16, compressed by what it shares with those bytes.
enum Rar4Name {
    /// - Parameters:
    ///   - field: the whole field.
    ///   - isUnicode: whether the header says that the name is Unicode.
    /// - Returns: UTF-8 if it is Unicode, otherwise the bytes as they are; with `/` between folders. At most one byte
    ///   beyond ``ArchiveLimits/maxNameLength`` is reliable.
    static func read(_ field: [UInt8], isUnicode: Bool) -> [UInt8] {
        // A Unicode name without a NUL is UTF-8.
        guard isUnicode, let end = field.firstIndex(of: 0) else { return slashed(field) }
        let legacy = Array(field[..<end])
        let units = expanded(Array(field[(end + 1)...]), by: legacy)
        return slashed(units.isEmpty ? legacy : Array(String(decoding: units, as: UTF16.self).utf8))
    }

    private static func slashed(_ name: [UInt8]) -> [UInt8] {
        name.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
    }

    /// The compressed form: a high byte shared by most characters, then groups of four. Each group starts with a byte
    /// that has two bits for each of the four, highest first: a low byte alone (0), a low byte with the shared high
    /// byte (1), a whole character (2), or a run of the legacy name's characters (3), possibly shifted and combined
    /// with the shared high byte.
    private static func expanded(_ short: [UInt8], by legacy: [UInt8]) -> [UInt16] {
        var input = ByteCursor(short)
        var units: [UInt16] = []
        guard let high = input.number(1) else { return [] }
        var kinds: UInt64 = 0
        var left = 0
        while units.count <= ArchiveLimits.maxNameLength {
            if left == 0 {
                guard let next = input.number(1) else { return units }
                (kinds, left) = (next, 4)
            }
            let kind = kinds >> 6 & 3
            (kinds, left) = (kinds << 2, left - 1)
            guard let first = input.number(kind == 2 ? 2 : 1) else { return units }
            guard kind == 3 else {
                units.append(UInt16(truncatingIfNeeded: kind == 1 ? first | high << 8 : first))
                continue
            }
            var shift: UInt64?
            if first & 0x80 != 0 {
                guard let value = input.number(1) else { return units }
                shift = value
            }
            for _ in 0..<(first & 0x7F) + 2 {
                guard units.count < legacy.count else { break }
                let letter = UInt64(legacy[units.count])
                units.append(UInt16(truncatingIfNeeded: shift.map { (letter + $0) & 0xFF | high << 8 } ?? letter))
            }
        }
        return units
    }
}
