import Foundation
import Glibc
import OwnFiles
import Platform

/// A fresh folder for one test, removed with its contents when the test ends.
package final class TemporaryFolder: Sendable {
    package let path: BytePath

    /// - Parameter parent: an existing folder.
    package init(_ name: String = "steward", beneath parent: String = NSTemporaryDirectory()) throws {
        path = BytePath("\(parent)/\(name)-\(randomHex(6))")
        try Durable.makeDirectory(path)
    }

    deinit {
        if (try? FileManager.default.removeItem(atPath: path.text)) == nil {
            // Folders that a test made read-only.
            Self.allowWriting(path.text)
            try? FileManager.default.removeItem(atPath: path.text)
        }
    }

    private static func allowWriting(_ folder: String) {
        chmod(folder, 0o700)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            let child = "\(folder)/\(name)"
            var status = stat()
            if lstat(child, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { allowWriting(child) }
        }
    }

    /// Writes a file below the folder, creating folders as needed, and returns its path.
    @discardableResult
    package func write(_ relative: BytePath, _ text: String) throws -> BytePath {
        try write(relative, Array(text.utf8))
    }

    @discardableResult
    package func write(_ relative: BytePath, _ bytes: [UInt8]) throws -> BytePath {
        let target = path.appending(relative)
        try Durable.makeDirectory(target.parent)
        let file = try Descriptor(target, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try file.write(bytes, at: 0)
        return target
    }

    package func read(_ relative: BytePath) throws -> String {
        try Self.text(path.appending(relative))
    }

    /// A file's text; like most programs, it waits while the agent has a lease on it.
    package static func text(_ path: BytePath) throws -> String {
        let raw = path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
        guard raw >= 0 else { throw Fault.system("open", path) }
        return String(decoding: try Descriptor(owning: raw, path: path).readAll(), as: UTF8.self)
    }
}

/// A generator whose sequence can be repeated from a printed seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Takes the seed from STEWARD_TEST_SEED, else a random one, and prints it.
    package init(for test: String) {
        let seed =
            ProcessInfo.processInfo.environment["STEWARD_TEST_SEED"].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
        print("\(test): STEWARD_TEST_SEED=\(seed)")
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
