import CTag
import Sandbox

/// The worker's command `media`: tags, length and dimensions of audio and video, mostly through TagLib.
enum MediaPass {
    /// The context for TagLib: the file, and where to send the results.
    private final class TagReader {
        let file: HandedFile
        var said: [String: String] = [:]

        init(_ file: HandedFile) { self.file = file }
    }

    private static let fields: [(String, ContentField)] = [
        ("title", .mediaTitle), ("artist", .mediaArtist), ("album", .mediaAlbum), ("albumArtist", .mediaAlbumArtist),
        ("genre", .mediaGenre), ("track", .mediaTrack), ("year", .mediaYear),
        ("comment", .mediaComment),
    ]

    static func run(_ file: HandedFile, _ output: ContentOutput) throws -> Never {
        let video = try VideoHeader.read(file)
        let ear = TagReader(file)
        let isKnown = listen(ear, size: file.size)
        guard isKnown || video != nil else { output.end(.unreadable, "it is neither sound nor film that is read") }
        if ear.said["title"] == nil, let title = video?.title { ear.said["title"] = title }
        for (name, field) in fields {
            if let value = ear.said[name] { output.field(field, value) }
        }
        let heard = ear.said["milliseconds"].flatMap { Double($0) }.map { $0 / 1000 }
        if let seconds = video?.duration ?? heard, seconds.isFinite, (0..<1e9).contains(seconds), seconds > 0 {
            output.field(.mediaDuration, PicturePass.decimal(seconds, places: 3))
        }
        output.field(.mediaWidth, video?.width)
        output.field(.mediaHeight, video?.height)
        output.end(.complete)
    }

    /// - Returns: whether TagLib supports the format.
    private static func listen(_ ear: TagReader, size: Int64) -> Bool {
        steward_tags(
            size,
            { context, offset, buffer, count in
                guard let context, let buffer, count > 0 else { return -1 }
                let ear = Unmanaged<TagReader>.fromOpaque(context).takeUnretainedValue()
                return Int64(
                    ear.file.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), at: offset))
            },
            { context, name, value in
                guard let context, let name, let value else { return }
                let ear = Unmanaged<TagReader>.fromOpaque(context).takeUnretainedValue()
                ear.said[String(cString: name)] = String(cString: value)
            }, Unmanaged.passUnretained(ear).toOpaque()) == 0
    }
}
