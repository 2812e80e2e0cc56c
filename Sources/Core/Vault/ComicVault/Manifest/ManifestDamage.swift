import Platform

/// Damage to a manifest. Nothing is changed or guessed when it is found: the remedy is a copy of the folder `manifest/`
/// from a backup, or a person's decision.
package enum ManifestDamage: Error, Hashable, Sendable, CustomStringConvertible {
    /// The newest snapshot does not open, or its content is invalid; an older one is never used instead.
    case snapshot(gen: UInt64, why: String)
    /// There are logs without their snapshot.
    case snapshotMissing(gen: UInt64)
    /// A log in the middle is missing, or the last records of the one before.
    case gap(before: LogName)
    /// The first 72 bytes of a log do not match this log of this vault.
    case header(LogName)
    /// A record that was durable, or is followed by others, does not verify.
    case record(LogName, seq: UInt64)
    /// Two logs, or two snapshots, continue from the same head.
    case fork(String, String)
    /// The last record is incomplete; without the high-water mark it is unknown whether it was ever durable.
    case tornTail(LogName, bytes: Int)
    /// A file name that the vault does not use.
    case strangeFile(BytePath)
    /// The records verify but contradict one another: a bug in this or another version of the program.
    case contradiction(String)

    package var description: String {
        switch self {
        case .snapshot(let gen, let why): "the manifest's newest snapshot, snap-\(gen), cannot be used: \(why)"
        case .snapshotMissing(let gen):
            "the manifest's snapshot snap-\(gen) is missing, but there are logs that follow it"
        case .gap(let log): "the manifest has a gap: the records between \(log) and its predecessor are missing"
        case .header(let log): "the beginning of the manifest's \(log) is damaged, or it belongs elsewhere"
        case .record(let log, let seq): "record \(seq) in the manifest's \(log) is damaged"
        case .fork(let one, let other):
            "the manifest has split in two: \(one) and \(other) both continue from the same point"
        case .tornTail(let log, let bytes):
            "the manifest's \(log) ends in \(bytes) bytes of an incomplete record, and without this host's high-water "
                + "mark it is unknown whether it was ever complete"
        case .strangeFile(let name): "\(name) is in the manifest's folder, but was not written by the vault"
        case .contradiction(let what): "the manifest contradicts itself (\(what)); please report it"
        }
    }
}

/// The name of a log: `log-<gen>-<n>`, in decimal digits without leading zeros.
package struct LogName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let gen: UInt64
    package let n: UInt64

    package init(gen: UInt64, n: UInt64) {
        self.gen = gen
        self.n = n
    }

    package init?(_ name: BytePath) {
        let parts = name.text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "log", let gen = UInt64(parts[1]), let n = UInt64(parts[2]) else {
            return nil
        }
        self.init(gen: gen, n: n)
        guard BytePath(description) == name else { return nil }
    }

    package var description: String { "log-\(gen)-\(n)" }

    package static func < (one: LogName, other: LogName) -> Bool { (one.gen, one.n) < (other.gen, other.n) }
}
