import Foundation

/// The address in the link files of browsers and desktops.
enum LinkFile: String {
    /// Windows' and many browsers' `[InternetShortcut]`.
    case url
    /// macOS' property list, as XML or binary.
    case webloc
    /// The freedesktop entry of type Link.
    case desktop

    /// - Returns: nil if the file has no address.
    func address(in bytes: [UInt8]) -> String? {
        switch self {
        case .url: Self.entry("URL", ofSection: "InternetShortcut", in: bytes)
        case .desktop:
            Self.entry("Type", ofSection: "Desktop Entry", in: bytes) == "Link"
                ? Self.entry("URL", ofSection: "Desktop Entry", in: bytes) : nil
        case .webloc:
            bytes.starts(with: Array("bplist00".utf8)) ? BinaryPropertyList(bytes)?.url : Self.xmlString(bytes)
        }
    }

    /// Old files may contain other encodings, but the relevant lines are ASCII: other bytes are read as U+FFFD.
    private static func entry(_ key: String, ofSection section: String, in bytes: [UInt8]) -> String? {
        var isInside = false
        for raw in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let line = raw.trimmingCharacters(in: .whitespaces.union(["\u{FEFF}"]))
            if line.hasPrefix("[") { isInside = line.lowercased() == "[\(section)]".lowercased() }
            guard isInside, let equals = line.firstIndex(of: "=") else { continue }
            guard line[..<equals].trimmingCharacters(in: .whitespaces).lowercased() == key.lowercased() else {
                continue
            }
            return line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        }
        return nil
    }

    /// The string after `<key>URL</key>`. Deliberately no XML parser, which would expose us to hostile entities, DTDs
    /// and nesting.
    private static func xmlString(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let key = text.range(of: "<key>URL</key>"),
            let open = text.range(of: "<string>", range: key.upperBound..<text.endIndex),
            text[key.upperBound..<open.lowerBound].allSatisfy(\.isWhitespace),
            let close = text.range(of: "</string>", range: open.upperBound..<text.endIndex)
        else { return nil }
        var value = text[open.upperBound..<close.lowerBound].trimmingCharacters(in: .whitespacesAndNewlines)
        // `&amp;` last, so that `&amp;lt;` is not decoded twice.
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
            value = value.replacingOccurrences(of: entity, with: character)
        }
        return value
    }
}

/// The subset of `bplist00` for a dictionary with one text; every offset is checked.
private struct BinaryPropertyList {
    private let bytes: [UInt8]
    private let offsetWidth: Int
    private let referenceWidth: Int
    private let objects: Int
    private let top: Int
    private let table: Int

    /// - Returns: nil if the trailer does not fit the file.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        let trailer = bytes.count - 32
        guard trailer >= 8 else { return nil }
        offsetWidth = Int(bytes[trailer + 6])
        referenceWidth = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth),
            let objects = Self.number(bytes, trailer + 8, 8), let top = Self.number(bytes, trailer + 16, 8),
            let table = Self.number(bytes, trailer + 24, 8), objects <= bytes.count, table <= bytes.count
        else { return nil }
        (self.objects, self.top, self.table) = (objects, top, table)
    }

    /// The text under the key `URL` of the outermost dictionary.
    var url: String? {
        guard let start = offset(of: top), let (kind, count, data) = header(at: start), kind == 0xD,
            count <= 1000
        else { return nil }
        for index in 0..<count {
            guard let key = Self.number(bytes, data + index * referenceWidth, referenceWidth), text(key) == "URL" else {
                continue
            }
            return Self.number(bytes, data + (count + index) * referenceWidth, referenceWidth).flatMap(text)
        }
        return nil
    }

    private func offset(of object: Int) -> Int? {
        guard object < objects else { return nil }
        return Self.number(bytes, table + object * offsetWidth, offsetWidth)
    }

    private func text(_ object: Int) -> String? {
        guard let start = offset(of: object), let (kind, count, data) = header(at: start) else { return nil }
        let width = kind == 0x6 ? 2 : 1
        guard kind == 0x5 || kind == 0x6, count <= bytes.count / width, data <= bytes.count - count * width else {
            return nil
        }
        let part = bytes[data..<(data + count * width)]
        return String(data: Data(part), encoding: width == 2 ? .utf16BigEndian : .ascii)
    }

    /// An object's kind, its number of elements, and their offset.
    private func header(at offset: Int) -> (kind: UInt8, count: Int, data: Int)? {
        guard let marker = Self.number(bytes, offset, 1) else { return nil }
        let kind = UInt8(marker >> 4)
        guard marker & 0xF == 0xF else { return (kind, marker & 0xF, offset + 1) }
        guard let size = Self.number(bytes, offset + 1, 1), size >> 4 == 1, size & 0xF <= 3 else { return nil }
        let width = 1 << (size & 0xF)
        guard let count = Self.number(bytes, offset + 2, width) else { return nil }
        return (kind, count, offset + 2 + width)
    }

    /// A big-endian number below 2³¹, enough for any offset in a file of a megabyte.
    private static func number(_ bytes: [UInt8], _ offset: Int, _ width: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - width else { return nil }
        let value = bytes[offset..<(offset + width)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value < 1 << 31 ? Int(value) : nil
    }
}
