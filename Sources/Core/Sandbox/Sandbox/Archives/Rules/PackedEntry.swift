/// What an archive records about a file packed into it.
package struct PackedEntry: Sendable, Equatable {
    /// One path component.
    package let name: [UInt8]
    /// Seconds since 1970.
    package let modified: Int64
    /// Permission bits.
    package let mode: UInt32

    package init(name: [UInt8], modified: Int64, mode: UInt32) {
        (self.name, self.modified, self.mode) = (name, modified, mode)
    }

    /// As words of the worker's command line.
    package var words: [String] {
        let digits = Array("0123456789abcdef")
        let name = String(name.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
        return [name, String(modified), String(mode, radix: 8)]
    }

    package init?(words: some Collection<String>) {
        let words = Array(words)
        guard words.count == 3, let modified = Int64(words[1]), let mode = UInt32(words[2], radix: 8) else {
            return nil
        }
        let digits = words[0].compactMap(\.hexDigitValue)
        guard digits.count == words[0].count, digits.count % 2 == 0 else { return nil }
        let name = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        self.init(name: name, modified: modified, mode: mode)
    }
}
