import OwnFiles
import Platform

/// The shipped rules in the repository.
package enum ShippedRules {
    package static let folder = Checkout.root.appending("rules.d")

    /// The names of all files there, sorted.
    package static func files() throws -> [String] {
        guard try FileStatus.of(folder) != nil else { return [] }
        return try listDirectory(folder).map { String(decoding: $0.name, as: UTF8.self) }.sorted()
    }

    package static func read(_ name: String) throws -> String {
        String(decoding: try Descriptor(folder.appending(BytePath(name))).readAll(), as: UTF8.self)
    }
}
