import Platform

/// Resource limits of one run of the worker.
package struct WorkerLimits: Sendable, Equatable {
    /// CPU seconds for an archive whose entries are independent.
    package var processorSeconds: UInt64 = 10
    /// The most CPU seconds for a solid archive, in which each entry requires all before it, and for examining all
    /// pages of a PDF. The agent raises the first limit when the worker reports a solid archive.
    package var solidProcessorSeconds: UInt64 = 120
    /// Wall-clock seconds, in addition to those that a slow disk needs to read the file; twice as many for a solid
    /// archive.
    package var timeout: Int64 = 120
    /// Wall-clock seconds without a record or any CPU time: then the worker was stopped, or the disk does not answer.
    package var standstill: Int64 = 30
    /// Wall-clock seconds for which it may be stopped (SIGSTOP).
    package var halt: Int64 { 5 }

    package static let standard = WorkerLimits()

    package init(
        processorSeconds: UInt64 = 10, solidProcessorSeconds: UInt64 = 120, timeout: Int64 = 120,
        standstill: Int64 = 30
    ) {
        self.standstill = standstill
        self.processorSeconds = processorSeconds
        self.solidProcessorSeconds = solidProcessorSeconds
        self.timeout = timeout
    }

    /// CPU seconds for drawing one page of a PDF.
    package var drawingSeconds: UInt64 { min(2 * processorSeconds, solidProcessorSeconds) }

    /// CPU seconds for examining that many pages of a PDF, each drawn small.
    package func lookingSeconds(_ pages: Int) -> UInt64 {
        min(processorSeconds + UInt64(max(0, pages)), solidProcessorSeconds)
    }

    /// The limits for a file of that many bytes. A solid archive gets time by its size, so that a small but slow one is
    /// caught early.
    package func sized(for size: Int64) -> WorkerLimits {
        var limits = self
        let wanted = Self.leastSolid + UInt64(max(0, size)) / Self.solidBytes
        limits.solidProcessorSeconds = max(processorSeconds, min(solidProcessorSeconds, wanted))
        return limits
    }

    /// CPU seconds that every solid archive gets.
    private static let leastSolid: UInt64 = 20
    /// Packed bytes per second that a slow machine unpacks of a solid archive.
    private static let solidBytes: UInt64 = 4 << 20

    /// Bytes per second of the slowest disk, and the largest file size that extends the wait.
    private static let slowest: Int64 = 2_000_000
    private static let largest: Int64 = 8 << 30

    /// Wall-clock seconds for reading that many bytes.
    package func timeout(for size: Int64) -> Int64 { timeout + min(size, Self.largest) / Self.slowest }

    /// The first word on the worker's command line.
    package var word: String { "limits=\(processorSeconds),\(solidProcessorSeconds)" }

    /// Consumes a leading ``word`` from `arguments`; without one, the default limits apply.
    package init?(consuming arguments: inout ArraySlice<String>) {
        self = .standard
        guard let first = arguments.first, first.hasPrefix("limits=") else { return }
        let numbers = first.dropFirst(7).split(separator: ",").compactMap { UInt64($0) }
        guard numbers.count == 2, numbers[0] > 0, numbers[1] >= numbers[0] else { return nil }
        (processorSeconds, solidProcessorSeconds) = (numbers[0], numbers[1])
        arguments = arguments.dropFirst()
    }
}
