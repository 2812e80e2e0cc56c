import Sandbox

/// What a worker has found in a file; checked, and still from outside.
package struct ContentReport: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        /// As the archive has it.
        package let path: [UInt8]
        package let isFolder: Bool
        package let isEncrypted: Bool
    }

    package var fields: [ContentField: String] = [:]
    /// The text, or its first mebibyte; nil where the file is not read for one.
    package var text: String?
    /// Where each page of the text ends, in bytes; nil where pages cannot be told apart.
    package var pageEnds: [Int]?
    package var entries: [Entry] = []
    /// Whether there is more than was looked at.
    package var isCut = false
    /// Why nothing was found, for people; nil where the file was read.
    package var trouble: String?

    /// Bytes in memory, about.
    var cost: Int {
        (text?.utf8.count ?? 0) + (pageEnds?.count ?? 0) * MemoryLayout<Int>.size
            + entries.reduce(0) { $0 + $1.path.count + 48 }
            + fields.values.reduce(256) { $0 + $1.utf8.count }
    }
}

/// What is wanted of a file; each costs a process.
package enum ContentAspect: String, Sendable, CaseIterable {
    /// The text, title, author and pages.
    case document
    /// EXIF data and size.
    case picture
    /// Tags, length and size of sound and films.
    case media
    /// The names of what an archive holds.
    case entries
    /// The language of the text.
    case language
}
