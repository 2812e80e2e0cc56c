import CTag
import Glibc
import Sandbox

/// The worker's command `tag`: the file as it would be with other tags, by TagLib. Writes nothing: it reports which
/// pieces of the file stay, and which bytes go between them.
enum TagPass {
    private final class TagWriter {
        let file: HandedFile
        let output: ContentOutput

        init(_ file: HandedFile, _ output: ContentOutput) { (self.file, self.output) = (file, output) }
    }

    /// - Parameter words: `title=Night Song` and the like.
    static func run(_ file: HandedFile, _ words: ArraySlice<String>, _ output: ContentOutput) -> Never {
        let tags = words.compactMap { word -> (MediaTag, String)? in
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let tag = MediaTag(rawValue: String(parts[0])) else { return nil }
            return (tag, String(parts[1]))
        }
        guard tags.count == words.count, !tags.isEmpty else { output.end(.unreadable, "no tags to set were named") }
        switch set(tags, TagWriter(file, output)) {
        case STEWARD_TAG_WRITTEN: output.end(.complete)
        case STEWARD_TAG_REFUSED: output.end(.unreadable, "a file of this kind cannot hold such tags")
        case STEWARD_TAG_LARGE: output.end(.unreadable, "too much of it would have to be written anew")
        default: output.end(.unreadable, "it is no sound whose tags can be set")
        }
    }

    private static func set(_ tags: [(MediaTag, String)], _ hand: TagWriter) -> steward_tag_outcome {
        let names = tags.map { UnsafePointer(strdup($0.0.property)) }
        let values = tags.map { UnsafePointer(strdup($0.1)) }
        // Never freed: the process exits right after this.
        return steward_set_tags(
            hand.file.size,
            { context, offset, buffer, count in
                guard let context, let buffer, count > 0 else { return -1 }
                let hand = Unmanaged<TagWriter>.fromOpaque(context).takeUnretainedValue()
                return Int64(
                    hand.file.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), at: offset))
            }, names, values, Int32(tags.count),
            { context, own, offset, length in
                guard let context, length > 0 else { return }
                let hand = Unmanaged<TagWriter>.fromOpaque(context).takeUnretainedValue()
                if let own {
                    hand.output.own(UnsafeRawBufferPointer(start: own, count: Int(length)))
                } else {
                    hand.output.kept(offset: offset, length: length)
                }
            }, Unmanaged.passUnretained(hand).toOpaque())
    }
}
