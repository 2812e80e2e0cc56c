/// Pages as pdftoppm writes them to stdout: a sequence of PPMs. Only whether each page shows anything is kept.
struct PdfLook {
    /// Pages that were drawn completely.
    private(set) var drawn = 0
    /// Pages of a single colour, by their index among the drawn ones, from 0.
    private(set) var plain: Set<Int> = []
    private(set) var makesSense = true
    private var head: [UInt8] = []
    /// Of the page being read: its first pixel, the bytes received, and the bytes expected.
    private var first: [UInt8] = []
    private var come = 0
    private var left = 0
    private var isPlain = true

    /// - Returns: false if the program should be stopped.
    mutating func consume(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while makesSense, let byte = rest.first {
            guard left > 0 else {
                head.append(byte)
                rest = rest.dropFirst()
                if byte == UInt8(ascii: "\n") { begin() }
                if head.count > 40 { makesSense = false }
                continue
            }
            let part = rest.prefix(left)
            look(part)
            rest = rest.dropFirst(part.count)
        }
        return makesSense
    }

    private mutating func begin() {
        let lines = head.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count == 4 else { return }
        let sides = lines[1].split(separator: UInt8(ascii: " ")).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        let isHead = lines[0].elementsEqual("P6".utf8) && lines[2].elementsEqual("255".utf8)
        guard isHead, sides.count == 2, sides.allSatisfy({ (1...2 * PageRenderer.lookedAtSide).contains($0) }) else {
            makesSense = false
            return
        }
        left = 3 * sides[0] * sides[1]
        (head, first, come, isPlain) = ([], [], 0, true)
    }

    private mutating func look(_ part: ArraySlice<UInt8>) {
        for byte in part {
            if come < 3 {
                first.append(byte)
            } else if byte != first[come % 3] {
                isPlain = false
            }
            come += 1
        }
        left -= part.count
        guard left == 0 else { return }
        if isPlain { plain.insert(drawn) }
        drawn += 1
    }
}
