import Glibc
import Platform
import Sandbox

/// The file on descriptor 3, or one whose bytes are requested from the agent if that is a socket. Always read at
/// explicit offsets: the position of the agent's own descriptor does not change.
///
/// If the agent does not answer, the process exits: a partly read file is no basis for a verdict, and the agent knows
/// the reason.
final class HandedFile {
    /// Bytes.
    let size: Int64
    /// Whether bytes are requested from the agent.
    let isAsked: Bool
    private let descriptor: Int32
    private var blocks: [Block] = []
    private var uses = 0

    /// The latest responses: headers are read in small parts close together, and each request is a round trip between
    /// the two processes.
    private struct Block {
        var number: Int64
        var bytes: [UInt8]
        var lastUse: Int
    }

    private static let blockLength = Int64(ArchiveQuestion.mostBytes)
    private static let mostBlocks = 3

    /// - Returns: nil if there is no such descriptor.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.descriptor = descriptor
        isAsked = status.st_mode & S_IFMT == S_IFSOCK
        guard isAsked else {
            size = Int64(status.st_size)
            return
        }
        var greeting = [UInt8](repeating: 0, count: ArchiveQuestion.sizeLength)
        greeting.withUnsafeMutableBytes { Self.fill($0, from: descriptor) }
        var cursor = ByteCursor(greeting)
        size = cursor.number(ArchiveQuestion.sizeLength).flatMap { Int64(exactly: $0) } ?? 0
    }

    /// Fills `target`, starting at `offset`.
    ///
    /// - Returns: the number of bytes: fewer only at the file's end; -1 if they cannot be read.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        isAsked ? ask(for: target, at: offset) : readHere(target, at: offset)
    }

    /// The bytes available at `offset`, up to `count`.
    ///
    /// - Throws: `Fault` if they cannot be read.
    func read(at offset: Int64, count: Int) throws -> [UInt8] {
        guard offset >= 0, offset < size else { return [] }
        let length = Int(min(Int64(count), size - offset))
        return try [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            let got = read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            guard got >= 0 else { throw Fault.system("read the file") }
            filled = got
        }
    }

    /// In the form that picture parsers take.
    func picture() throws -> PictureBytes {
        PictureBytes(head: try read(at: 0, count: 65_536), size: size) { try self.read(at: $0, count: $1) }
    }

    private func readHere(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        var done = 0
        while done < target.count {
            let got = pread(
                descriptor, target.baseAddress?.advanced(by: done), target.count - done, Int(offset) + done)
            if got < 0, errno == EINTR { continue }
            if got < 0 { return -1 }
            if got == 0 { break }
            done += got
        }
        return done
    }

    private func ask(for target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        var done = 0
        while done < target.count, offset >= 0, offset < size - Int64(done) {
            let place = offset + Int64(done)
            let start = Int(place % Self.blockLength)
            let index = block(place / Self.blockLength)
            let part = min(target.count - done, blocks[index].bytes.count - start)
            blocks[index].bytes.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: target[done..<done + part]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: $0[start..<start + part]))
            }
            done += part
        }
        return done
    }

    /// - Returns: its index in the cache.
    private func block(_ number: Int64) -> Int {
        uses += 1
        if let index = blocks.firstIndex(where: { $0.number == number }) {
            blocks[index].lastUse = uses
            return index
        }
        let start = number * Self.blockLength
        let count = Int(min(Self.blockLength, size - start))
        let index: Int
        if blocks.count < Self.mostBlocks {
            index = blocks.count
            blocks.append(Block(number: number, bytes: [], lastUse: uses))
        } else {
            index = blocks.indices.min { blocks[$0].lastUse < blocks[$1].lastUse } ?? 0
        }
        blocks[index].number = number
        blocks[index].lastUse = uses
        if blocks[index].bytes.count != count { blocks[index].bytes = [UInt8](repeating: 0, count: count) }
        put(ArchiveQuestion.encoded(start, count))
        blocks[index].bytes.withUnsafeMutableBytes { Self.fill($0, from: descriptor) }
        return index
    }

    private func put(_ question: [UInt8]) {
        var done = 0
        while done < question.count {
            let put = question.withUnsafeBytes {
                write(descriptor, $0.baseAddress?.advanced(by: done), question.count - done)
            }
            if put < 0, errno != EINTR { _exit(Self.noAnswer) }
            done += max(0, put)
        }
    }

    private static func fill(_ target: UnsafeMutableRawBufferPointer, from descriptor: Int32) {
        var done = 0
        while done < target.count {
            let got = Glibc.read(descriptor, target.baseAddress?.advanced(by: done), target.count - done)
            if got == 0 || got < 0 && errno != EINTR { _exit(noAnswer) }
            done += max(0, got)
        }
    }

    /// EX_IOERR of sysexits.h.
    private static let noAnswer: Int32 = 74
}
