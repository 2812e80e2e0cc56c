import Glibc
import Platform
import Synchronization

/// A worker's executable, held open: what runs is what was found, whatever an upgrade puts in its place meanwhile. A worker
/// of another version says of a sound file what the agent takes for damage.
///
/// Where it does not start any more, its libraries having been replaced, say, the agent has to be started anew.
package final class CagedProgram: Sendable {
    package let path: BytePath
    let file: Descriptor

    /// - Returns: nil where there is no program at `path` that this user may start.
    package init?(_ path: BytePath) {
        let raw = path.withCString { access($0, X_OK) == 0 ? open($0, pathOnly | O_CLOEXEC) : -1 }
        guard raw >= 0 else { return nil }
        (self.path, file) = (path, Descriptor(owning: raw, path: path))
    }

    /// The program of a name: once it was found it is the same one for as long as this process runs. Blocks.
    ///
    /// - Parameters:
    ///   - name: its file name.
    ///   - variable: the environment's variable that names it; without one it is looked for beside the running program,
    ///     then in `libexec/steward` beside that one's folder.
    /// - Returns: nil where there is no such program now.
    package static func named(_ name: String, variable: String) -> CagedProgram? {
        found.withLock { found in
            if let known = found[name] { return known }
            for path in candidates(name, variable) {
                guard let program = CagedProgram(path) else { continue }
                found[name] = program
                return program
            }
            return nil
        }
    }

    private static let found = Mutex<[String: CagedProgram]>([:])

    private static func candidates(_ name: String, _ variable: String) -> [BytePath] {
        if let named = getenv(variable) { return [BytePath(String(cString: named))] }
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = buffer.withUnsafeMutableBytes { bytes -> Int in
            guard let start = bytes.baseAddress else { return -1 }
            return readlink("/proc/self/exe", start.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard length > 0 else { return [] }
        let folder = BytePath(bytes: Array(buffer[..<length])).parent
        return [folder, folder.parent.appending("libexec/steward")].map { $0.appending(BytePath(name)) }
    }
}
