import Glibc
import Platform

/// Replacing a file of the caller's own that lies among a person's: state, kept copies. Whoever reads sees one version or
/// the other, whole; what was there before goes unread. Everything here blocks.
package enum OwnFile {
    /// - Parameter record: called with the new version while it is empty.
    package static func replace(
        _ target: Spot, with bytes: [UInt8], mode: mode_t, record: Durable.Record = { _, _ in }
    ) throws {
        let staged = try Durable.stage(bytes, for: target, mode: mode, record: record)
        try Durable.replace(target, with: staged, record: record)
    }
}
