import Foundation
import Platform

/// `counter:invoices`, or `counter:invoices@%Y` for one that begins anew each year: a value of which each job draws a
/// number of its own.
struct CounterName: Sendable, Equatable {
    static let prefix = "counter:"

    /// `invoices`.
    let name: String
    /// strftime's letters of which each date has a counter of its own; nil for one counter.
    let period: String?

    /// - Parameter value: the name of a value; nil is returned for one that is no counter's, or is not well formed.
    init?(value: String) {
        guard value.hasPrefix(Self.prefix), Self.fault(String(value.dropFirst(Self.prefix.count))) == nil else {
            return nil
        }
        let parts = value.dropFirst(Self.prefix.count).split(separator: "@", maxSplits: 1)
        name = String(parts[0])
        period = parts.count > 1 ? String(parts[1]) : nil
    }

    /// What is wrong with what stands behind `counter:`; nil if nothing.
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

    /// Whether a counter of this name, as the ledger knows it, could be one of a rule's.
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
