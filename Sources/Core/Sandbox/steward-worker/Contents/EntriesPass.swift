import Sandbox

/// The worker's command `entries`: the names of an archive's entries; unpacks only what comes before them.
enum EntriesPass {
    static func run(_ file: HandedFile, _ output: ContentOutput) throws -> Never {
        guard let archive = PackedFile(file), archive.open(try file.read(at: 0, count: 512)) else {
            output.end(.unreadable, "it is no archive, or a damaged one")
        }
        var (count, names) = (0, 0)
        while true {
            switch archive.next() {
            case .end: output.end(.complete)
            case .bad: continue
            case .fatal(let message):
                let text = message.isEmpty ? "the archive is damaged" : "the archive is damaged: \(message)"
                // A damaged end does not invalidate what was read before it.
                output.end(count > 0 ? .cut : .unreadable, text)
            case .entry(let path, let isFolder, let isEncrypted):
                count += 1
                names += path.count
                if count > ContentLimits.entries || names > ContentLimits.names { output.end(.cut) }
                output.entry(path: path, isFolder: isFolder, isEncrypted: isEncrypted)
            }
        }
    }
}
