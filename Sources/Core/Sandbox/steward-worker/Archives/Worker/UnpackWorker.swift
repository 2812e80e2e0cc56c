import Glibc
import Platform
import Sandbox

/// `steward-worker archive`: an archive on descriptor 3, or a socket for requesting its bytes; records to the pipe on
/// descriptor 4, and nothing else.
///
/// - `inspect [hash] [nameless]`: every header, and for each page and metadata file its size, checksum, image header;
///   `nameless` reveals no names from the archive (``WithheldNames``).
/// - `list`: every header. For an EPUB it also reads what determines the order of its pages, like `inspect` and `page`.
/// - `extract POSITION...`: the bytes of these entries, in the archive's order.
/// - `unpack [own]`: every header, and the bytes of every file; of any size if the agent packed it itself.
/// - `pack FORMAT ...`: the reverse: packs the file on descriptor 3, or a folder; see ``PackPass``.
/// - `page INDEX`: every header, and the bytes of that page (from 0, in reading order).
/// - `thumbnail ...`: small JPEGs of pages, in its own cage; see ``ThumbnailPass``.
/// - `claims [nameless]`: what a RAR 4's headers say about its entries; see ``RarClaimsPass``.
/// - `pdf ...`, `unar ...`: the second profile; see ``RenderWorker`` and ``UnarWorker``.
/// - `probe open|socket|fork|exec|mmap`: breaks one rule of the cage, to prove that it holds.
///
/// `limits=SECONDS,SECONDS` before the command overrides the default CPU limits (``WorkerLimits``).
package enum UnpackWorker {
    package static let archiveDescriptor: Int32 = 3
    package static let resultDescriptor: Int32 = 4

    /// Runs one command and exits: 0 when everything was sent, 64 for a malformed command line, 70 without a cage.
    package static func main(_ arguments: [String]) -> Never {
        WorkerCage.begin("steward-worker")
        var words = arguments.dropFirst()
        guard let limits = WorkerLimits(consuming: &words), let command = words.popFirst() else { _exit(64) }
        let rest = Array(words)
        if command == "pdf" { RenderWorker.main(rest, limits) }
        if command == "unar" { UnarWorker.main(rest, limits) }
        guard let bytes = HandedFile(descriptor: archiveDescriptor) else { _exit(64) }
        let output = RecordOutput(descriptor: resultDescriptor)
        do {
            let archive = try LibraryArchive(bytes)
            if command == "thumbnail" { ThumbnailPass.main(rest, archive: archive, bytes: bytes, output: output) }
            UnpackCage.warmUp(hashes: rest.contains("hash"))
            do {
                try UnpackCage.enter(limits, asks: bytes.isAsked)
            } catch {
                output.send(.end(WorkerEnd(reason: .noCage, message: explain(error))))
                _exit(70)
            }
            if command == "probe" { CageProbe.run(rest.first ?? "") }
            if rest.contains("nameless") { output.withheld = WithheldNames() }
            let pass = UnpackPass(archive: archive, bytes: bytes, output: output) { try LibraryArchive(bytes) }
            switch command {
            case "inspect": try pass.inspect(hashes: rest.contains("hash"))
            case "list": try pass.list()
            case "claims": try RarClaimsPass.tell(bytes, output)
            case "extract": try pass.extract(Set(rest.compactMap { Int($0) }))
            case "unpack": try pass.unpack(isOwn: rest.contains("own"))
            case "pack": try PackPass.run(rest, bytes, output)
            case "page": try pass.page(rest.first.flatMap { Int($0) } ?? 0)
            default: _exit(64)
            }
        } catch {
            output.send(.end(WorkerEnd(reason: .unreadable, message: explain(error))))
        }
        _exit(0)
    }
}

/// Writes records to the pipe.
final class RecordOutput {
    private let descriptor: Int32
    private var waiting: [UInt8] = []
    /// Set if the agent must not learn what is in the archive.
    var withheld: WithheldNames?

    private static let mostWaiting = 16_384

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Sends a record along with those queued. Blocks until the agent has taken it; exits if the pipe is no longer
    /// read.
    func send(_ record: WorkerRecord) {
        let frame = told(record).encoded()
        if waiting.isEmpty { return put(frame) }
        waiting += frame
        flush()
    }

    /// Queues a small record that is not urgent.
    func queue(_ record: WorkerRecord) {
        waiting += told(record).encoded()
        if waiting.count >= Self.mostWaiting { flush() }
    }

    private func told(_ record: WorkerRecord) -> WorkerRecord { withheld?.replacing(record) ?? record }

    func flush() {
        put(waiting)
        waiting.removeAll(keepingCapacity: true)
    }

    private func put(_ frames: [UInt8]) {
        frames.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let put = write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                if put < 0 && errno != EINTR { _exit(74) }
                done += max(0, put)
            }
        }
    }
}
