/// Detects which of the few supported encodings a text has, and converts it to UTF-8.
enum TextEncoding {
    /// The text in UTF-8, without a byte order mark; invalid sequences become U+FFFD.
    ///
    /// - Parameter label: the encoding that the file itself declares, in lower case; nil if none.
    /// - Returns: nil for an unsupported encoding.
    static func utf8(_ bytes: [UInt8], label: String? = nil) -> [UInt8]? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
        if bytes.starts(with: [0xFF, 0xFE]) { return utf16(bytes.dropFirst(2), isLittle: true) }
        if bytes.starts(with: [0xFE, 0xFF]) { return utf16(bytes.dropFirst(2), isLittle: false) }
        switch label {
        case nil, "utf-8", "utf8", "us-ascii", "ascii": return bytes
        case "iso-8859-1", "latin1", "iso8859-1", "windows-1252", "cp1252", "iso-8859-15":
            // HTML treats all three as windows-1252; of ISO 8859-15, often only the euro sign is used.
            return western(bytes, euro: label == "iso-8859-15" ? 0xA4 : 0x80)
        default: return nil
        }
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, isLittle: Bool) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var index = bytes.startIndex
        while index + 1 < bytes.endIndex {
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(isLittle ? second << 8 | first : first << 8 | second)
            index += 2
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// windows-1252 from 0x80 on; all later bytes are the same as in Unicode.
    private static let high: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]

    private static func western(_ bytes: [UInt8], euro: UInt8) -> [UInt8] {
        let units = bytes.map { byte -> UInt16 in
            byte == euro ? 0x20AC : (0x80...0x9F).contains(byte) ? high[Int(byte) - 0x80] : UInt16(byte)
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// The encoding that HTML (`<meta charset=…>`) or XML (`<?xml … encoding=…?>`) declares in its first kilobyte, in
    /// lower case.
    static func declared(_ bytes: [UInt8]) -> String? {
        let head = String(decoding: bytes.prefix(1024), as: UTF8.self).lowercased()
        for mark in ["charset=", "encoding="] {
            guard let found = head.range(of: mark) else { continue }
            let rest = head[found].drop { "\"' ".contains($0) }
            let name = rest.prefix { $0.isLetter || $0.isNumber || "-_".contains($0) }
            if !name.isEmpty { return String(name) }
        }
        return nil
    }
}

extension String {
    /// The text after the first occurrence of `mark`; uses only the standard library, to avoid loading Foundation.
    fileprivate func range(of mark: String) -> PartialRangeFrom<String.Index>? {
        firstRange(of: mark).map { $0.upperBound... }
    }
}
