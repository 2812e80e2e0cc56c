import CLinux
import Platform
import Sandbox

/// One run of `steward-worker archive`. It receives an open archive, or a socket to request its bytes, and a pipe;
/// nothing else.
struct WorkerProcess {
    typealias Outcome = CagedEnding<WorkerEnd>

    let program: CagedProgram
    let archive: ArchiveSource
    let arguments: [String]
    /// Wall-clock seconds until it is killed; doubled for a solid archive.
    let timeout: Int64
    var limits = WorkerLimits.standard
    /// The examination that it belongs to, whose share it uses up.
    var pass: ExaminationPass?
    /// CPU seconds allowed between records: per page, if there is one per page.
    var secondsBetweenWords: UInt64?

    /// Runs it to completion. Blocks.
    ///
    /// - Parameter receive: receives each record but the last; false stops the worker.
    /// - Throws: `Fault` if no worker could be started or it was stopped from outside; any error from `receive`.
    func run(_ receive: (WorkerRecord) throws -> Bool) throws -> Outcome {
        var frames = FrameReader(limit: WorkerRecord.frameLimit)
        var isSolid = false
        return try run { part, run in
            frames.append(part)
            while let body = frames.next() {
                guard let body, let record = try? WorkerRecord(body: body) else { return .nonsense }
                if case .end(let end) = record { return .finished(end) }
                if case .structure(let structure) = record, structure.traits.contains(.solid), !isSolid {
                    isSolid = true
                    steward_raise_cpu_limit(run.id, limits.solidProcessorSeconds)
                    run.deadline += .seconds(timeout)
                }
                if try !receive(record) { return .stopped }
            }
            return nil
        }
    }

    /// Runs a worker that becomes another program, which does not speak records, to completion. Blocks.
    ///
    /// - Parameter receive: receives the bytes as they arrive; false stops it.
    /// - Returns: `.vanished` with its exit status if it was not killed.
    func stream(_ receive: ([UInt8]) throws -> Bool) throws -> Outcome {
        let outcome: Outcome = try run { part, _ in try receive(Array(part)) ? nil : .stopped }
        return if case .mute(let status) = outcome { .vanished(status: status) } else { outcome }
    }

    private func run(
        _ take: (ArraySlice<UInt8>, inout CagedProcess.Run) throws -> Outcome?
    ) throws -> Outcome {
        let word = limits == .standard ? [] : [limits.word]
        var process = CagedProcess(
            program, ["steward-worker", "archive"] + word + arguments, name: "the unpacking process",
            path: archive.path, timeout: timeout, processorSeconds: limits.processorSeconds)
        (process.standstill, process.halt) = (limits.standstill, limits.halt)
        process.secondsBetweenWords = secondsBetweenWords
        if let pass {
            process.pause = { pass.isQuick ? Self.shortPause : Self.longPause }
            process.look = { try pass.check($0) }
            process.used = { pass.add($0) }
        }
        guard case .asked(let asked) = archive else { return try process.run(try archive.file(), take) }
        var ends: [Int32] = [-1, -1]
        guard steward_socket_pair(&ends) == 0 else { throw Fault.system("make a socket") }
        let other = Descriptor(owning: ends[1], path: asked.path)
        let answers = try ArchiveAnswers(asked, Descriptor(owning: ends[0], path: asked.path))
        return try process.run(consume other, dialogue: answers, take)
    }

    private static let shortPause = Duration.milliseconds(100)
    private static let longPause = Duration.seconds(1)
}

extension WorkerProcess.Outcome {
    /// Whether it completed the whole request.
    var isComplete: Bool { if case .finished(let end) = self { end.reason == .complete } else { false } }
}
