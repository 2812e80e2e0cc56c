import ControlSocket
import Foundation
import Glibc
import Logging
import Platform

/// The journal's native protocol: an entry is a datagram of fields, which makes `journalctl STEWARD_RULE=…` work
/// (systemd.io/JOURNAL_NATIVE_PROTOCOL).
package final class JournalSocket: Sendable {
    /// This machine's journal, if standard error is connected to it; otherwise nil, also if no journal accepts entries.
    package static let system: JournalSocket? = {
        // Standard error must be a socket: a regular file may have the same numbers by accident or in a test.
        guard JournalStream.isStandardError, JournalStream.isSocket else { return nil }
        return JournalSocket("/run/systemd/journal/socket")
    }()

    private let descriptor: Int32

    /// - Parameter path: where the journal listens.
    /// - Returns: nil if nothing listens there.
    package init?(_ path: BytePath) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        guard UnixAddress.with(path.text, { connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Encodes an entry.
    ///
    /// - Parameters:
    ///   - message: already escaped; its line breaks are kept.
    ///   - metadata: each key becomes a field prefixed with `STEWARD_`.
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

    /// Sends an entry without blocking. When the journal has no room, entries go to the stream, which blocks.
    ///
    /// - Returns: false if the journal does not accept the entry, as it is too long or the journal is unavailable; it
    ///   must then go to the stream.
    package func send(_ entry: [UInt8]) -> Bool {
        while true {
            let sent = entry.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if sent >= 0 { return true }
            guard errno == EINTR else { return false }
        }
    }

    /// A value with line breaks is length-prefixed, so that outside text cannot inject fields.
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

    /// Upper case letters, digits and underscores, at most 64: the journal's rules.
    private static func name(_ key: String) -> String {
        let words = key.uppercased().unicodeScalars.map { scalar -> Character in
            ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) ? Character(scalar) : "_"
        }
        return String(("STEWARD_" + String(words)).prefix(64))
    }
}
