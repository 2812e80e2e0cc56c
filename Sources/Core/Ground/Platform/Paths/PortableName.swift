/// Names that are valid on every system that files may be copied to: Windows, exFAT, and network shares of either.
package enum PortableName {
    /// A path component with invalid characters replaced: `A: B` becomes `A - B`, `What*?` becomes `What_`, `CON`
    /// becomes `CON_`.
    package static func of(_ name: [UInt8]) -> [UInt8] {
        var made: [UInt8] = []
        for (index, byte) in name.enumerated() {
            switch byte {
            case UInt8(ascii: ":"):
                let next = name.dropFirst(index + 1).first
                made += next == UInt8(ascii: " ") ? Array(" -".utf8) : next == nil ? [] : [UInt8(ascii: "-")]
            case UInt8(ascii: "\""): made.append(UInt8(ascii: "'"))
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "|"), UInt8(ascii: "?"), UInt8(ascii: "*"),
                UInt8(ascii: "\\"), 0..<0x20, 0x7F:
                if made.last != replacement { made.append(replacement) }
            default: made.append(byte)
            }
        }
        while let last = made.last, last == UInt8(ascii: ".") || last == UInt8(ascii: " ") { made.removeLast() }
        if made.isEmpty { return name.isEmpty ? [] : [replacement] }
        let stem = made.prefix { $0 != UInt8(ascii: ".") }
        guard devices.contains(String(decoding: stem, as: UTF8.self).uppercased()) else { return made }
        return stem + [replacement] + made.dropFirst(stem.count)
    }

    /// Whether two names are equal, ignoring case.
    package static func areOne(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one == other || folded(one) == folded(other)
    }

    private static func folded(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self).lowercased() }

    private static let replacement = UInt8(ascii: "_")

    /// DOS device names, still reserved on its successors with any extension.
    private static let devices: Set<String> = {
        let numbered = ["COM", "LPT"].flatMap { name in (1...9).map { "\(name)\($0)" } }
        return Set(["CON", "PRN", "AUX", "NUL"] + numbered)
    }()
}
