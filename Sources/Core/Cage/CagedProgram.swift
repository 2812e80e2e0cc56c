import Glibc
import Platform

/// Where a worker's executable is.
package enum CagedProgram {
    /// - Parameters:
    ///   - name: its file name.
    ///   - variable: the environment's variable that names it; without one it is looked for beside the running program,
    ///     then in `libexec/steward` beside that one's folder.
    /// - Returns: nil where there is no such program.
    package static func locate(_ name: String, variable: String) -> BytePath? {
        if let named = getenv(variable) {
            let path = BytePath(String(cString: named))
            return isProgram(path) ? path : nil
        }
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = buffer.withUnsafeMutableBytes { bytes -> Int in
            guard let start = bytes.baseAddress else { return -1 }
            return readlink("/proc/self/exe", start.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard length > 0 else { return nil }
        let folder = BytePath(bytes: Array(buffer[..<length])).parent
        return [folder.appending(BytePath(name)), folder.parent.appending("libexec/steward").appending(BytePath(name))]
            .first(where: isProgram)
    }

    /// Whether it can be started now.
    package static func isProgram(_ path: BytePath) -> Bool { path.withCString { access($0, X_OK) } == 0 }
}
