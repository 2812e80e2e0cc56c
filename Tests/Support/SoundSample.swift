/// Sound files, created for each test.
package enum SoundSample {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A WAV: silence of this length at 8 kHz, with a title and an artist in a separate chunk.
    package static func wave(seconds: Int, title: String = "Night Song") -> [UInt8] {
        func little(_ value: Int, _ width: Int) -> [UInt8] { (0..<width).map { UInt8(value >> ($0 * 8) & 255) } }
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
            let padding = [UInt8](repeating: 0, count: body.count % 2)
            return bytes(name) + little(body.count, 4) + body + padding
        }
        let format = little(1, 2) + little(1, 2) + little(8_000, 4) + little(8_000, 4) + little(1, 2) + little(8, 2)
        let samples = [UInt8](repeating: 128, count: 8_000 * seconds)
        let list = bytes("INFO") + chunk("INAM", bytes("\(title)\0\0")) + chunk("IART", bytes("The Trio\0\0"))
        let inside =
            bytes("WAVE") + chunk("fmt ", format) + chunk("LIST", list) + chunk("data", samples)
        return chunk("RIFF", inside)
    }

    /// An MP3 of silent frames, 38 per second, after an ID3v2.3 tag with a title and a picture.
    package static func mp3(frames: Int = 76) -> [UInt8] {
        func big(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(value >> ($0 * 8) & 255) } }
        func frame(_ name: String, _ body: [UInt8]) -> [UInt8] { bytes(name) + big(body.count) + [0, 0] + body }
        let picture = frame("APIC", [0] + bytes("image/png") + [0, 3, 0] + [UInt8](repeating: 0x89, count: 400))
        let tags = frame("TIT2", [0] + bytes("Night Song")) + picture
        let size = (0..<4).reversed().map { UInt8(tags.count >> ($0 * 7) & 127) }
        let silence: [UInt8] = [0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 0, count: 413)
        return bytes("ID3") + [3, 0, 0] + size + tags + (0..<frames).flatMap { _ in silence }
    }
}
