/// A tar written field by field, so that each field can lie.
package struct RawTar: Sendable {
    package struct Entry: Sendable {
        package var name: [UInt8]
        package var bytes: [UInt8]
        /// The kind: `0` a file, `1` a hard link, `2` a symbolic one, `5` a folder, `x` a pax header.
        package var kind: Character
        package var link: [UInt8]
        /// The twelve bytes of the size, if they are not the real one in octal digits.
        package var sizeField: [UInt8]?
        package var hasGoodChecksum = true

        package init(_ name: String, _ bytes: [UInt8] = [], kind: Character = "0", link: String = "") {
            self.init(Array(name.utf8), bytes, kind: kind, link: link)
        }

        package init(_ name: [UInt8], _ bytes: [UInt8] = [], kind: Character = "0", link: String = "") {
            (self.name, self.bytes, self.kind, self.link) = (name, bytes, kind, Array(link.utf8))
        }
    }

    package var entries: [Entry]
    /// The two blocks of zeros that end it.
    package var hasEnd = true

    package init(_ entries: [Entry]) { self.entries = entries }

    package var bytes: [UInt8] {
        var out: [UInt8] = []
        for entry in entries {
            // GNU's extension for long names.
            if entry.name.count > 100 {
                out += Self.member(Entry("././@LongLink", entry.name + [0], kind: "L"))
            }
            out += Self.member(entry)
        }
        return out + [UInt8](repeating: 0, count: hasEnd ? 1024 : 0)
    }

    /// Where each entry begins, and the end of the last one.
    package var edges: [Int] {
        entries.reduce(into: [0]) { edges, entry in edges.append((edges.last ?? 0) + Self.member(entry).count) }
    }

    private static func member(_ entry: Entry) -> [UInt8] {
        func text(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
            Array(bytes.prefix(count)) + [UInt8](repeating: 0, count: max(0, count - bytes.count))
        }
        var block = text(entry.name, 100) + octal(0o644, 8) + octal(0, 8) + octal(0, 8)
        block += entry.sizeField ?? octal(entry.bytes.count, 12)
        block += octal(0, 12) + [UInt8](repeating: 0x20, count: 8) + Array(String(entry.kind).utf8)
        block += text(entry.link, 100) + Array("ustar\0".utf8) + Array("00".utf8)
        block += [UInt8](repeating: 0, count: 512 - block.count)
        let sum = block.reduce(0) { $0 + Int($1) } + (entry.hasGoodChecksum ? 0 : 1)
        block.replaceSubrange(148..<156, with: octal(sum, 7) + [0x20])
        return block + entry.bytes + [UInt8](repeating: 0, count: (512 - entry.bytes.count % 512) % 512)
    }

    /// `count - 1` digits and a NUL.
    package static func octal(_ value: Int, _ count: Int) -> [UInt8] {
        let digits = String(value, radix: 8)
        return Array((String(repeating: "0", count: max(0, count - 1 - digits.count)) + digits).utf8) + [0]
    }

    /// GNU's other encoding of numbers: the first bit set, then the number in 95 bits.
    package static func binary(_ value: Int64) -> [UInt8] {
        [value < 0 ? 0xFF : 0x80] + [UInt8](repeating: value < 0 ? 0xFF : 0, count: 3) + big(value, 8)
    }

    /// A pax header that sets these values for the next entry.
    package static func pax(_ values: [(String, String)]) -> Entry {
        let lines = values.map { key, value in
            let rest = " \(key)=\(value)\n"
            var length = rest.utf8.count + 1
            while "\(length)".utf8.count + rest.utf8.count != length { length += 1 }
            return "\(length)\(rest)"
        }
        return Entry("pax", Array(lines.joined().utf8), kind: "x")
    }
}
