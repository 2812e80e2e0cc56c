import Foundation
import Glibc
import Logging
import Platform

/// The journal's own protocol: an entry is a datagram of fields, by which `journalctl STEWARD_RULE=…` finds it
/// (systemd.io/JOURNAL_NATIVE_PROTOCOL).
package final class JournalSocket: Sendable {
    /// That of this machine, where standard error is the journal; nil elsewhere, and where no journal takes entries.
    package static let system: JournalSocket? = {
        // Standard error is then a socket: a file whose numbers are the same by accident, or by a test, is none.
        guard JournalStream.isStandardError, JournalStream.isSocket else { return nil }
        return JournalSocket("/run/systemd/journal/socket")
    }()

    private let descriptor: Int32

    /// - Parameter path: where the journal listens.
    /// - Returns: nil where nobody listens there.
    package init?(_ path: BytePath) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        guard UnixAddress.with(path.text, { connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// The bytes of an entry.
    ///
    /// - Parameters:
    ///   - message: shown already; its line breaks stay.
    ///   - metadata: each becomes a field of the name `STEWARD_` and its key.
    package static func entry(_ message: String, _ level: Logger.Level, _ metadata: Logger.Metadata) -> [UInt8] {
        var entry: [UInt8] = []
        add("MESSAGE", message, to: &entry)
        add("PRIORITY", "\(JournalStream.priority(level))", to: &entry)
        add("SYSLOG_IDENTIFIER", "steward", to: &entry)
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            add(name(key), ShownText.line("\(value)"), to: &entry)
        }
        return entry
    }

    /// Sends an entry. Does not wait: the stream, which does, takes what the journal has no room for.
    ///
    /// - Returns: false where the journal does not take it, because it is too long, or is not there just now: then it has to
    ///   be told by the stream.
    package func send(_ entry: [UInt8]) -> Bool {
        while true {
            let sent = entry.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if sent >= 0 { return true }
            guard errno == EINTR else { return false }
        }
    }

    /// A value with line breaks has its length before it, so that what comes from outside is never a field of its own.
    private static func add(_ field: String, _ value: String, to entry: inout [UInt8]) {
        entry += Array(field.utf8)
        if value.utf8.contains(UInt8(ascii: "\n")) {
            entry.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(value.utf8.count).littleEndian) { entry += Array($0) }
        } else {
            entry.append(UInt8(ascii: "="))
        }
        entry += Array(value.utf8)
        entry.append(UInt8(ascii: "\n"))
    }

    /// Capitals, digits and underscores, 64 at most: what the journal takes.
    private static func name(_ key: String) -> String {
        let words = key.uppercased().unicodeScalars.map { scalar -> Character in
            ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) ? Character(scalar) : "_"
        }
        return String(("STEWARD_" + String(words)).prefix(64))
    }
}
