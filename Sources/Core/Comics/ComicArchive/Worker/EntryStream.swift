import Dispatch
import Foundation
import Platform
import Synchronization

extension ArchiveWorker {
    /// The contents of entries, concatenated in the archive's order, for one sequential read; memory use does not
    /// depend on their size. No process runs before the first read.
    ///
    /// - Parameters:
    ///   - archive: must not change in the meantime.
    ///   - sizes: of the entries by position, as counted by a validation.
    package func stream(_ archive: ArchiveSource, _ sizes: [Int: Int64]) -> EntryStream {
        EntryStream(self, archive, sizes)
    }
}

/// Entries' contents as one stream. For a single reader; reading blocks.
package final class EntryStream: Sendable {
    private let worker: ArchiveWorker
    private let archive: ArchiveSource
    private let sizes: [Int: Int64]
    private let pipe = EntryPipe()
    private let rest = Mutex<(isStarted: Bool, part: ArraySlice<UInt8>)>((false, []))

    fileprivate init(_ worker: ArchiveWorker, _ archive: ArchiveSource, _ sizes: [Int: Int64]) {
        self.worker = worker
        self.archive = archive
        self.sizes = sizes
    }

    deinit { pipe.abandon() }

    /// Fills `buffer` with the next bytes; partially only at the end.
    ///
    /// - Throws: `Fault(.refused)` if an entry differs from the validated one.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try rest.withLock { rest in
            if !rest.isStarted {
                rest.isStarted = true
                let (worker, archive, sizes, pipe) = (worker, archive, sizes, pipe)
                Thread.detachNewThread { pipe.fill { try worker.hand(out: sizes, of: archive, to: $0) } }
            }
            var done = 0
            while done < buffer.count {
                if rest.part.isEmpty {
                    guard let next = try pipe.receive() else { break }
                    rest.part = next[...]
                }
                let part = rest.part.prefix(buffer.count - done)
                part.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + part.count]).copyMemory(from: $0)
                }
                done += part.count
                rest.part = rest.part.dropFirst(part.count)
            }
            return done
        }
    }
}

extension ArchiveWorker {
    /// Blocks.
    ///
    /// - Parameter put: receives the next bytes; false stops it.
    fileprivate func hand(out sizes: [Int: Int64], of archive: ArchiveSource, to put: ([UInt8]) -> Bool) throws {
        let archive = try readable(archive)
        var left = sizes
        var current: (position: Int, size: Int64)?
        var isAbandoned = false
        let words = ["extract"] + sizes.keys.sorted().map { "\($0)" }
        let outcome = try process(archive, words).run { record in
            switch record {
            case .bytes(let position, let bytes):
                if current?.position != position { current = (position, 0) }
                guard let size = current?.size, let whole = left[position], size + Int64(bytes.count) <= whole else {
                    return false
                }
                current?.size += Int64(bytes.count)
                isAbandoned = !put(bytes)
                return !isAbandoned
            case .content(let content):
                let size = current?.position == content.position ? current?.size : 0
                guard content.state == .whole, let whole = left[content.position], size == whole else { return false }
                left[content.position] = nil
                current = nil
            case .structure, .header, .order, .end: break
            }
            return true
        }
        guard left.isEmpty || isAbandoned else {
            if let obstacle = try obstacle(outcome, archive.path) { throw obstacle }
            throw Fault(.refused, "the pages of \(archive.path) are not what they were when they were judged")
        }
    }
}

/// A small queue between the thread that reads the worker's answers and the reader.
private final class EntryPipe: Sendable {
    private struct State {
        var parts: [[UInt8]] = []
        var end: Result<Void, any Error>?
        var isAbandoned = false
    }

    private static let most = 8
    private let state = Mutex(State())
    private let room = DispatchSemaphore(value: 0)
    private let filled = DispatchSemaphore(value: 0)

    init() { for _ in 0..<Self.most { room.signal() } }

    func fill(_ body: (_ put: ([UInt8]) -> Bool) throws -> Void) {
        let end = Result { try body(put) }
        state.withLock { $0.end = end }
        filled.signal()
    }

    private func put(_ part: [UInt8]) -> Bool {
        room.wait()
        let goesOn = state.withLock { state in
            if !state.isAbandoned { state.parts.append(part) }
            return !state.isAbandoned
        }
        if goesOn { filled.signal() }
        return goesOn
    }

    /// - Returns: nil at the end.
    func receive() throws -> [UInt8]? {
        filled.wait()
        let (part, end) = state.withLock { state in
            (state.parts.isEmpty ? nil : state.parts.removeFirst(), state.end)
        }
        if let part {
            room.signal()
            return part
        }
        // Lets later calls see the end too.
        filled.signal()
        try end?.get()
        return nil
    }

    func abandon() {
        state.withLock { $0.isAbandoned = true }
        room.signal()
    }
}
