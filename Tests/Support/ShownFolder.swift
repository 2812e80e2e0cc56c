import Glibc
import Platform

/// A FUSE file system without a rename that refuses to replace: bindfs shows a folder in a second place.
package final class ShownFolder {
    private let place: BytePath

    /// - Returns: nil if unavailable: without root, bindfs, or FUSE in the kernel.
    package init?(_ source: BytePath, at place: BytePath) throws {
        let program = "/usr/bin/bindfs"
        guard getuid() == 0, access("/dev/fuse", R_OK | W_OK) == 0, access(program, X_OK) == 0 else { return nil }
        // A background process must not hold any of the tests' descriptors: they would wait for it to end.
        let script = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
        let command = ["/usr/bin/python3", "-c", script, program, source.text, place.text]
        guard try runProgram(command).status == 0 else { return nil }
        self.place = place
    }

    deinit { umount2(place.text, 2) }  // MNT_DETACH
}
