import Platform

/// What one run of the worker may use up.
package struct WorkerLimits: Sendable, Equatable {
    /// CPU seconds for an archive whose entries stand alone.
    package var processorSeconds: UInt64 = 10
    /// The most CPU seconds for a solid one, where each entry costs all before it, and for looking at all pages of a PDF.
    /// The agent lifts the first limit when the worker has reported a solid archive.
    package var solidProcessorSeconds: UInt64 = 120
    /// Seconds by the clock, with as many more as a slow disk takes to read the file; a solid archive has twice as
    /// many.
    package var patience: Int64 = 120
    /// Seconds by the clock without a word from it and without its having had the processor: then it was stopped, or the
    /// disk does not answer.
    package var standstill: Int64 = 30
    /// Seconds by the clock for which somebody may halt it (SIGSTOP).
    package var halt: Int64 { 5 }

    package static let standard = WorkerLimits()

    package init(
        processorSeconds: UInt64 = 10, solidProcessorSeconds: UInt64 = 120, patience: Int64 = 120,
        standstill: Int64 = 30
    ) {
        self.standstill = standstill
        self.processorSeconds = processorSeconds
        self.solidProcessorSeconds = solidProcessorSeconds
        self.patience = patience
    }

    /// CPU seconds for drawing one page of a PDF.
    package var drawingSeconds: UInt64 { min(2 * processorSeconds, solidProcessorSeconds) }

    /// CPU seconds for a look at so many pages of a PDF, each drawn small.
    package func lookingSeconds(_ pages: Int) -> UInt64 {
        min(processorSeconds + UInt64(max(0, pages)), solidProcessorSeconds)
    }

    /// The limits for a file of so many bytes: a solid archive has time by its size, so that a small one that takes long
    /// is found out soon.
    package func sized(for size: Int64) -> WorkerLimits {
        var limits = self
        let wanted = Self.leastSolid + UInt64(max(0, size)) / Self.solidBytes
        limits.solidProcessorSeconds = max(processorSeconds, min(solidProcessorSeconds, wanted))
        return limits
    }

    /// CPU seconds that any solid archive has.
    private static let leastSolid: UInt64 = 20
    /// Packed bytes of a solid archive that slow machines unpack in a second.
    private static let solidBytes: UInt64 = 4 << 20

    /// Bytes a second that the slowest disk reads, and how many a file may have that is waited for.
    private static let slowest: Int64 = 2_000_000
    private static let largest: Int64 = 8 << 30

    /// Seconds by the clock for reading so many bytes.
    package func patience(for size: Int64) -> Int64 { patience + min(size, Self.largest) / Self.slowest }

    /// The first word on the worker's command line.
    package var word: String { "limits=\(processorSeconds),\(solidProcessorSeconds)" }

    /// Consumes what ``word`` says at the front of `arguments`; without one the standard limits hold.
    package init?(consuming arguments: inout ArraySlice<String>) {
        self = .standard
        guard let first = arguments.first, first.hasPrefix("limits=") else { return }
        let numbers = first.dropFirst(7).split(separator: ",").compactMap { UInt64($0) }
        guard numbers.count == 2, numbers[0] > 0, numbers[1] >= numbers[0] else { return nil }
        (processorSeconds, solidProcessorSeconds) = (numbers[0], numbers[1])
        arguments = arguments.dropFirst()
    }
}
