import ComicArchive
import Foundation
import OwnFiles
import Platform
import TestSupport

/// A shell script in the worker's place: the archive is its descriptor 3, the agent reads from 4.
///
/// - Parameter failsAlways: if true it behaves as if it did not match its libraries; otherwise it runs the real worker
///   for the agent's sample, which is a file in memory or nothing.
package func fakeWorker(
    _ script: String, in folder: TemporaryFolder, failsAlways: Bool = false
) throws -> BytePath {
    let own = try builtWorker().program
    let sound = "case $(readlink /proc/$$/fd/3) in /memfd:*|/dev/null) exec '\(own)' \"$@\";; esac\n"
    let path = try folder.write(
        BytePath("fake-\(randomHex(4))"), "#!/bin/bash\n\(failsAlways ? "" : sound)\(script)\n")
    guard chmod(path.text, 0o755) == 0 else { throw TestFailure("cannot make \(path) a program") }
    // A process that another test starts in between holds a copy of every descriptor until its exec, and a file that is
    // open for writing cannot be executed.
    let file = try Descriptor(path)
    while Lease.probeWriters(file) == .busy { usleep(1000) }
    return path
}
