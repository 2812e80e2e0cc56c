import Platform

/// An archive for a worker to examine.
package enum ArchiveSource: Sendable {
    /// An open file, which the worker receives.
    case file(Descriptor)
    /// One that no worker may have, or that has no file: its bytes are passed on request.
    case asked(AskedArchive)

    /// Its name in messages.
    package var path: BytePath {
        switch self {
        case .file(let file): file.path
        case .asked(let archive): archive.path
        }
    }

    func size() throws -> Int64 {
        switch self {
        case .file(let file): try file.status().size
        case .asked(let archive): archive.size
        }
    }

    /// Its current fingerprint. An archive read on demand cannot change, and has only a size.
    func fingerprint() throws -> Fingerprint {
        switch self {
        case .asked(let archive): return Fingerprint(device: 0, inode: 0, size: archive.size, modified: 0, changed: 0)
        case .file(let file):
            let status = try file.status()
            guard status.kind == .file else { throw Fault(.refused, "\(path) is not a file", path: path) }
            return status.fingerprint
        }
    }

    func isPdf() throws -> Bool {
        ComicFileType.detect(head: try head(), name: path.name, isDirectory: false).family == .archive(.pdf)
    }

    /// Whether it is a solid RAR 4, which libarchive cannot read.
    func isSolidRar() throws -> Bool { Rar4Headers.isSolid(try head()) }

    private func head() throws -> [UInt8] {
        switch self {
        case .file(let file): try file.read(at: 0, count: ComicFileType.headLength)
        case .asked(let archive): try archive.head()
        }
    }

    /// - Throws: `Fault` if there is none.
    func file() throws -> Descriptor {
        guard case .file(let file) = self else {
            throw Fault(
                .failed, "\(path) is a PDF, which is drawn from a file alone; please report it", path: path)
        }
        return file
    }
}

/// An archive whose bytes a worker requests, without access to a file. It must not change while in use.
package struct AskedArchive: Sendable {
    /// Fills all of the buffer from an offset in the archive; never called for a range beyond its end. Blocks. An error
    /// ends the worker, and is thrown instead of a verdict.
    package typealias Read = @Sendable (_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws -> Void

    package let path: BytePath
    /// Bytes.
    package let size: Int64
    let read: Read

    package init(path: BytePath, size: Int64, read: @escaping Read) {
        self.path = path
        self.size = size
        self.read = read
    }

    /// Whether it is a PDF, which cannot be read on demand: its renderer needs a file.
    package func isPdf() throws -> Bool { try ArchiveSource.asked(self).isPdf() }

    /// All of it in an in-memory file, for a program that needs a file. Blocks.
    ///
    /// - Throws: `Fault` if there is too little memory, and any error from reading.
    func inMemory() throws -> Descriptor {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        return try MemoryFile.filled(size, path) { put in
            try buffer.withUnsafeMutableBytes { buffer in
                var done: Int64 = 0
                while done < size {
                    let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(size - done, 1 << 20))])
                    try read(part, done)
                    try put(UnsafeRawBufferPointer(part))
                    done += Int64(part.count)
                }
            }
        }
    }

    fileprivate func head() throws -> [UInt8] {
        let count = Int(min(size, Int64(ComicFileType.headLength)))
        var head = [UInt8](repeating: 0, count: count)
        if count > 0 { try head.withUnsafeMutableBytes { try read($0, 0) } }
        return head
    }
}
