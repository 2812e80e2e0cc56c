import Glibc
import Platform

/// Where editors of the agent's user keep swap and backup files away from the edited file. The files are named after
/// its full path.
struct EditorHomes: Sendable {
    private let swaps: [BytePath]
    private let backups: [BytePath]

    init(environment: [String: String]) {
        func folder(_ variable: String, _ fallback: String) -> BytePath? {
            if let value = environment[variable], value.hasPrefix("/") { return BytePath(value) }
            return environment["HOME"].flatMap { $0.hasPrefix("/") ? BytePath($0).appending(fallback) : nil }
        }
        let application = environment["NVIM_APPNAME"] ?? "nvim"
        swaps = [folder("XDG_STATE_HOME", ".local/state"), folder("XDG_DATA_HOME", ".local/share")].compactMap {
            $0?.appending(application).appending("swap")
        }
        let micro =
            environment["MICRO_CONFIG_HOME"].map { BytePath($0) }
            ?? folder("XDG_CONFIG_HOME", ".config")?.appending("micro")
        backups = [micro].compactMap { $0?.appending("backups") }
    }

    /// The first sign of unsaved changes to this file. Blocks.
    func sign(of path: BytePath) throws -> BytePath? {
        for folder in swaps {
            for suffix in ["swp", "swo", "swn"] {
                let swap = Self.percented(path) + Array(".\(suffix)".utf8)
                if let found = try Self.look(folder, swap, { try EditorSwap.read($0, $1)?.isUnsaved ?? false }) {
                    return found
                }
            }
        }
        for folder in backups {
            // micro removes it when the file is saved or closed.
            for name in [Self.percented(path), Self.escaped(path)] {
                if let found = try Self.look(folder, name, { try $1.status($0) != nil }) { return found }
            }
        }
        return nil
    }

    private static func look(
        _ folder: BytePath, _ name: [UInt8], _ isSign: (BytePath, HeldFiles) throws -> Bool
    ) throws -> BytePath? {
        guard name.count <= Int(NAME_MAX) else { return nil }
        let path = folder.appending(name: name)
        do {
            return try isSign(path, HeldFiles(below: [folder])) ? path : nil
        } catch let fault as Fault where [ENOENT, ENOTDIR, EACCES].contains(fault.errno) || fault.code == Fault.link {
            // Not this user's, or not where the editor would have made it.
            return nil
        }
    }

    /// As vim and neovim name them: `%home%me%essay.md`.
    private static func percented(_ path: BytePath) -> [UInt8] {
        path.bytes.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "%") : $0 }
    }

    /// URL query encoding: `%2Fhome%2Fme%2Fessay.md`.
    private static func escaped(_ path: BytePath) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return path.bytes.flatMap { byte -> [UInt8] in
            let letter = (byte | 32) &- 97 < 26
            if letter || byte &- 48 < 10 || "-_.~".utf8.contains(byte) { return [byte] }
            if byte == UInt8(ascii: " ") { return [UInt8(ascii: "+")] }
            return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
}
