import Sandbox

/// A worker's findings about a file: checked, but still untrusted.
package struct ContentReport: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        /// As the archive spells it.
        package let path: [UInt8]
        package let isFolder: Bool
        package let isEncrypted: Bool
    }

    package var fields: [ContentField: String] = [:]
    /// The text, up to 1 MiB; nil if the file has no text to read.
    package var text: String?
    /// End offsets of the pages in the text, in bytes; nil if pages cannot be told apart.
    package var pageEnds: [Int]?
    package var entries: [Entry] = []
    /// Whether the result is truncated.
    package var isCut = false
    /// Why nothing was found, for people; nil if the file was read.
    package var trouble: String?

    /// Approximate size in memory, in bytes.
    var cost: Int {
        (text?.utf8.count ?? 0) + (pageEnds?.count ?? 0) * MemoryLayout<Int>.size
            + entries.reduce(0) { $0 + $1.path.count + 48 }
            + fields.values.reduce(256) { $0 + $1.utf8.count }
    }
}
