/// Durations and sizes in human units.
package enum Quantity {
    /// Parses `2s`, `1.5m`, `500ms`, `1h`, `7d`, `2w` into seconds; nil for anything else, including a number without
    /// a unit.
    package static func seconds(_ text: String) -> Double? {
        let units = ["ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        guard let (number, unit) = split(text), let factor = units[unit], number * factor <= 3.2e9 else { return nil }
        return number * factor
    }

    /// Parses `100`, `100 B`, `1.5 KiB`, `2 GiB`, `10 MB` into bytes; nil for anything else.
    package static func bytes(_ text: String) -> Int64? {
        let units: [String: Double] = [
            "": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 0x1p10, "mib": 0x1p20, "gib": 0x1p30,
            "tib": 0x1p40,
        ]
        guard let (number, unit) = split(text), let factor = units[unit.lowercased()], number * factor < 9e18 else {
            return nil
        }
        return Int64(number * factor)
    }

    /// A non-negative number and the text after it.
    private static func split(_ text: String) -> (Double, String)? {
        let trimmed = text.trimmedSpaces
        let digits = trimmed.prefix { ("0"..."9").contains($0) || $0 == "." }
        guard let number = Double(digits), number.isFinite else { return nil }
        return (number, String(trimmed.dropFirst(digits.count)).trimmedSpaces)
    }
}

/// `<= 2 GiB`: an operator and a bound.
package struct Comparison<Bound: Comparable & Sendable>: Sendable {
    package enum Operator: String, Sendable, CaseIterable {
        case atMost = "<="
        case atLeast = ">="
        case below = "<"
        case above = ">"
        case equal = "="
    }

    package let operation: Operator
    package let bound: Bound

    /// Without an operator, compares for equality; nil if the bound is invalid.
    package init?(_ text: String, bound read: (String) -> Bound?) {
        let trimmed = text.trimmedSpaces
        let operation = Operator.allCases.first { trimmed.hasPrefix($0.rawValue) }
        guard let bound = read(String(trimmed.dropFirst(operation?.rawValue.count ?? 0)).trimmedSpaces) else {
            return nil
        }
        self.operation = operation ?? .equal
        self.bound = bound
    }

    package func holds(_ value: Bound) -> Bool {
        switch operation {
        case .atMost: value <= bound
        case .atLeast: value >= bound
        case .below: value < bound
        case .above: value > bound
        case .equal: value == bound
        }
    }
}
