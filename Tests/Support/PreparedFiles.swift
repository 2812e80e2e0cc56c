import Foundation
import OwnFiles
import Platform

/// Files that many tests begin with: they are made once and copied, which takes less time.
package final class PreparedFiles: Sendable {
    private let folder: Result<TemporaryFolder, any Error>

    /// - Parameter make: fills a folder.
    package init(_ make: (BytePath) throws -> Void) {
        folder = Result {
            let folder = try TemporaryFolder("steward-prepared")
            try make(folder.path)
            return folder
        }
    }

    /// Copies them into an existing folder.
    package func copy(to target: BytePath) throws {
        let source = try folder.get().path
        for entry in try listDirectory(source) {
            try FileManager.default.copyItem(
                atPath: source.appending(name: entry.name).text, toPath: target.appending(name: entry.name).text)
        }
    }
}
