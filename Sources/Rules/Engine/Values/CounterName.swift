import Foundation
import Platform

/// `counter:invoices`, or `counter:invoices@%Y` to restart each year. Each job draws its own number from it.
struct CounterName: Sendable, Equatable {
    static let prefix = "counter:"

    /// `invoices`.
    let name: String
    /// The strftime format of the period in which the counter restarts; nil if it never does.
    let period: String?

    /// - Parameter value: the name of a value. The result is nil if it is not a well-formed counter.
    init?(value: String) {
        guard value.hasPrefix(Self.prefix), Self.fault(String(value.dropFirst(Self.prefix.count))) == nil else {
            return nil
        }
        let parts = value.dropFirst(Self.prefix.count).split(separator: "@", maxSplits: 1)
        name = String(parts[0])
        period = parts.count > 1 ? String(parts[1]) : nil
    }

    /// The error in the text after `counter:`, or nil.
    static func fault(_ text: String) -> String? {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.first, !name.isEmpty, name.utf8.count <= 100, name.unicodeScalars.allSatisfy(isOfName)
        else { return "a counter needs a name of letters, digits, `-`, `_` and `.`: `counter:invoices`" }
        guard parts.count > 1 else { return nil }
        guard parts[1].contains("%"), parts[1].unicodeScalars.allSatisfy({ isOfName($0) || $0 == "%" }) else {
            return "behind `@` a counter has letters of dates, as in `counter:\(name)@%Y`, which begins anew each year"
        }
        return DateFormat.fault(parts[1])
    }

    /// Whether a rule could have a counter with this name, as stored in the ledger.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 200
            && text.unicodeScalars.allSatisfy { isOfName($0) || "@:".unicodeScalars.contains($0) }
    }

    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil || "-_.".unicodeScalars.contains(scalar)
    }

    /// The counter that a job draws from: `invoices@2026`.
    func counter(arrival: Timestamp, timeZone: Zone) -> String {
        guard let period else { return name }
        return "\(name)@\(DateFormat(period, timeZone: timeZone).string(arrival))"
    }
}
