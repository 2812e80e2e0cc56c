import Platform

/// The files that downloads leave next to their target, as observed in real programs.
///
/// Firefox creates the empty target next to `Ab3dEf9x.ext.part`, continues in `name.Cd4eFg0y.ext.part` (formerly
/// `name.ext.part`), and renames that over the target; others do the same with other extensions. aria2 writes the
/// target directly and keeps `name.aria2` until it is complete.
enum PartialDownload {
    private static let endings = [
        ".part", ".aria2", ".crdownload", ".opdownload", ".!qB", ".filepart", ".ytdl",
    ].map { Array($0.utf8) }
    private static let unconfirmed = Array("Unconfirmed ".utf8)
    private static let unfinished = Array(".aria2".utf8)
    private static let dot = UInt8(ascii: ".")

    /// Whether a control file shows that a download is incomplete, whatever its size. Blocks.
    static func isUnfinished(_ path: BytePath, _ files: HeldFiles) -> Bool {
        // If the status cannot be read, assume no download.
        ((try? files.status(path.parent.appending(name: path.name + unfinished))) ?? nil) != nil
    }

    static func isPartial(_ name: [UInt8]) -> Bool { endings.contains { NamePatterns.ends(name, with: $0) } }

    /// Whether the partial download `partial` will fill the empty file `name`.
    static func fills(_ name: [UInt8], _ partial: [UInt8]) -> Bool {
        guard let ending = endings.first(where: { NamePatterns.ends(partial, with: $0) }) else { return false }
        let kept = Array(partial.dropLast(ending.count))
        // Chromium's has a number instead of the name.
        if kept == name || kept.starts(with: unconfirmed) { return true }
        let (stem, end) = BytePath(bytes: name).stemAndExtension
        let (partialStem, partialEnd) = BytePath(bytes: kept).stemAndExtension
        guard end == partialEnd else { return false }
        let random = partialStem.starts(with: stem + [dot]) ? Array(partialStem.dropFirst(stem.count + 1)) : partialStem
        return random.count == 8 && random.allSatisfy(isOfRandomName)
    }

    private static func isOfRandomName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"):
            true
        default: false
        }
    }
}
