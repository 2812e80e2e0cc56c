import Platform
import Sandbox

/// How the worker locks itself down, before reading a byte of the archive.
enum UnpackCage {
    static let memory: UInt64 = 512 << 20
    static var solidProcessorSeconds: UInt64 { WorkerLimits.standard.solidProcessorSeconds }

    /// Sets limits, no new privileges, no core dumps, Landlock if the kernel has it, and the system call filter.
    ///
    /// - Parameter asks: whether the archive's bytes are requested from the agent.
    /// - Throws: `Fault` if any of them fails; then nothing may be read.
    static func enter(_ limits: WorkerLimits, asks: Bool) throws {
        try WorkerCage.enter(
            processorSeconds: limits.processorSeconds, ceiling: limits.solidProcessorSeconds, memory: memory,
            asks: asks)
    }

    /// Reads and hashes a little, so that the libraries have loaded everything they need from files.
    ///
    /// - Parameter hashes: whether SHA-256 will be computed: OpenSSL takes a millisecond to start.
    static func warmUp(hashes: Bool = false) {
        WorkerCage.warmUp()
        if hashes { _ = ContentHash(of: [0]) }
        var crc = CRC32()
        [0, 1, 2].withUnsafeBytes { crc.update($0) }
    }
}
