import Foundation

/// Money in US dollars, in whole billionths: a token of the cheapest model costs ten of them, so that sums are exact.
public struct Cost: Codable, Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Billionths of a dollar.
    public var nanodollars: Int64

    /// An exact amount.
    public init(nanodollars: Int64) { self.nanodollars = nanodollars }

    /// Rounded to a billionth; NaN becomes 0, and amounts are clamped at nine billion dollars.
    public init(dollars: Double) {
        let bounded = dollars.isNaN ? 0 : min(max(dollars, -9e9), 9e9)
        nanodollars = Int64((bounded * 1e9).rounded())
    }

    /// Nothing.
    public static let zero = Cost(nanodollars: 0)

    /// For display and JSON; sums use billionths.
    public var dollars: Double { Double(nanodollars) / 1e9 }

    /// Compares the amounts.
    public static func < (left: Cost, right: Cost) -> Bool { left.nanodollars < right.nanodollars }

    /// Saturates instead of overflowing.
    public static func + (left: Cost, right: Cost) -> Cost {
        let (sum, overflow) = left.nanodollars.addingReportingOverflow(right.nanodollars)
        return Cost(nanodollars: overflow ? (left.nanodollars < 0 ? .min : .max) : sum)
    }

    /// `$1.25`; four decimals below ten cents, and `<$0.0001` below a hundredth of a cent.
    public var description: String {
        if nanodollars > 0, nanodollars < 100_000 { return "<$0.0001" }
        return String(format: abs(dollars) < 0.1 && nanodollars != 0 ? "$%.4f" : "$%.2f", dollars)
    }

    /// Decodes a number of dollars.
    public init(from decoder: any Decoder) throws {
        self.init(dollars: try decoder.singleValueContainer().decode(Double.self))
    }

    /// Encodes a number of dollars.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(dollars)
    }
}

/// Estimates a text's tokens, before a server has counted them.
public enum TokenEstimate {
    /// Words × 1.3, rounded up (docs/design/advisors.md, "Cost"); in scripts without spaces, each letter counts as a
    /// word.
    public static func tokens(_ text: String) -> Int {
        var words = 0
        var isInside = false
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace {
                isInside = false
            } else if scalar.properties.isIdeographic || isKanaOrThai(scalar) {
                words += 1
                isInside = false
            } else if !isInside {
                words += 1
                isInside = true
            }
        }
        return Int((Double(words) * 1.3).rounded(.up))
    }

    private static func isKanaOrThai(_ scalar: Unicode.Scalar) -> Bool {
        (0x3040...0x30FF).contains(scalar.value) || (0x0E00...0x0EFF).contains(scalar.value)
    }
}
