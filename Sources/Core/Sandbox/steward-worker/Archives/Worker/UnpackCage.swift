import Platform
import Sandbox

/// How the worker locks itself down, before it has read a byte of the archive.
enum UnpackCage {
    static let memory: UInt64 = 512 << 20
    static var solidProcessorSeconds: UInt64 { WorkerLimits.standard.solidProcessorSeconds }

    /// Limits, no new privileges, no core dumps, Landlock where the kernel has it, and the system call filter.
    ///
    /// - Parameter asks: whether the archive's bytes are asked for.
    /// - Throws: `Fault` where one of them is refused: then nothing may be read.
    static func enter(_ limits: WorkerLimits, asks: Bool) throws {
        try WorkerCage.enter(
            processorSeconds: limits.processorSeconds, ceiling: limits.solidProcessorSeconds, memory: memory,
            asks: asks)
    }

    /// Reads and hashes a little, so that the libraries have loaded all they need from files.
    ///
    /// - Parameter hashes: whether SHA-256 will be computed: OpenSSL takes a millisecond to begin.
    static func warmUp(hashes: Bool = false) {
        WorkerCage.warmUp()
        if hashes { _ = ContentHash(of: [0]) }
        var crc = CRC32()
        [0, 1, 2].withUnsafeBytes { crc.update($0) }
    }
}
