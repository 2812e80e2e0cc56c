import Foundation
import Platform

/// Exact decimal numbers, as templates read and show them: `-1234.5`.
enum DecimalText {
    /// Maximum digits before the decimal point.
    static let digits = 30
    /// Maximum digits after it.
    private static let decimals = 18
    /// Maximum length of a number as text.
    private static let longest = 64

    /// nil for anything else, including digit group separators, since any of them could be meant as the decimal
    /// point.
    static func number(_ text: String) -> Decimal? {
        let text = text.trimmedSpaces
        let parts = text.drop { $0 == "-" || $0 == "+" }.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= longest, (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            text.utf8.dropFirst().allSatisfy({ $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "+") })
        else { return nil }
        return Decimal(string: text.hasPrefix("+") ? String(text.dropFirst()) : text, locale: nil)
    }

    /// Whole numbers as integers; nil if it is too large, or not a number.
    static func value(_ number: Decimal) -> Value? {
        guard number.isFinite, abs(number) < limit else { return nil }
        let text = plain(number, decimals)
        return Int(text).map { .integer($0) } ?? .text(text)
    }

    /// Rounds half away from zero.
    static func rounded(_ number: Decimal, _ decimals: Int) -> String {
        let text = plain(number, decimals)
        guard decimals > 0 else { return text }
        let parts = text.split(separator: ".")
        let fraction = parts.count > 1 ? String(parts[1]) : ""
        return "\(parts[0]).\(fraction)" + String(repeating: "0", count: max(0, decimals - fraction.count))
    }

    private static func plain(_ number: Decimal, _ decimals: Int) -> String {
        var number = number
        var rounded = Decimal()
        NSDecimalRound(&rounded, &number, decimals, .plain)
        return rounded.isZero ? "0" : "\(rounded)"
    }

    static let units: [(name: String, bytes: Decimal)] = [
        ("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
        ("KiB", 1_024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
    ]

    /// For people.
    static let unitNames = units.map { "`\($0.name)`" }.joined(separator: ", ")

    /// - Parameter unit: empty to choose a suitable one.
    static func size(_ bytes: Decimal, _ unit: String) -> String {
        let fitting = units.last { $0.name.count != 2 && $0.bytes <= abs(bytes) } ?? units[0]
        let unit = units.first { $0.name == unit } ?? fitting
        let text = rounded(bytes / unit.bytes, 1)
        return "\(text.hasSuffix(".0") ? String(text.dropLast(2)) : text) \(unit.name)"
    }

    private static let limit = Decimal(sign: .plus, exponent: digits, significand: 1)
}
