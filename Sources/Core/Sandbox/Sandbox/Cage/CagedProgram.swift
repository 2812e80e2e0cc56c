import Glibc
import Platform
import Synchronization

/// A worker's executable, held open: what runs is the version that was found, even if an upgrade replaces it. A worker
/// of another version could say things about an intact file that the agent takes for damage.
///
/// If it no longer starts, for example because its libraries were replaced, the agent must be restarted.
package final class CagedProgram: Sendable {
    package let path: BytePath
    let file: Descriptor

    /// - Returns: nil if there is no program at `path` that this user may execute.
    package init?(_ path: BytePath) {
        let raw = path.withCString { access($0, X_OK) == 0 ? open($0, pathOnly | O_CLOEXEC) : -1 }
        guard raw >= 0 else { return nil }
        (self.path, file) = (path, Descriptor(owning: raw, path: path))
    }

    /// Finds a program by name; once found, it stays the same for the lifetime of this process. Blocks.
    ///
    /// - Parameters:
    ///   - name: its file name.
    ///   - variable: the environment variable with its path. If unset, it is searched for next to the running program,
    ///     then in
    ///     `libexec/steward` next to that program's folder.
    /// - Returns: nil if there is no such program at the moment.
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
