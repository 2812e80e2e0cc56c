import FileActions
import OwnFiles
import Platform
import Rules
import Sandbox
import TestSupport

/// The worker that was built with the tests.
func builtContentWorker() throws -> ContentWorker { try ContentWorker(program: Built.program("steward-worker")) }

/// The worker's findings in a file with these bytes.
func look(_ aspect: ContentAspect, _ bytes: [UInt8], mime: String = "") async throws -> ContentReport {
    let folder = try TemporaryFolder("contents")
    return try await BlockingPool("look").run {
        let file = try Descriptor(folder.write("file", bytes))
        return try builtContentWorker().look(aspect, in: file, mime: mime)
    }
}
