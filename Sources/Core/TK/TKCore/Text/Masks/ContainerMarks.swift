/// Lines that open excessively nested quotations and list items.
enum ContainerMarks {
    /// A parser's memory and time grow with the depth; a line beyond this depth is not real writing.
    private static let deepest = 100

    /// Blanks such lines, preserving their length in bytes, so that a parser does not see them.
    static func blankDeepLines(_ bytes: inout [UInt8]) {
        var start = 0
        while start < bytes.count {
            let isDeep = marks(bytes, from: start) > deepest
            var end = start
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n"), bytes[end] != UInt8(ascii: "\r") {
                if isDeep { bytes[end] = UInt8(ascii: " ") }
                end += 1
            }
            start = end + 1
        }
    }

    /// The number of container marks at the start of a line.
    private static func marks(_ bytes: [UInt8], from start: Int) -> Int {
        var marks = 0
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"): break
            case UInt8(ascii: ">"): marks += 1
            case UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: ")"):
                guard index + 1 < bytes.count,
                    bytes[index + 1] == UInt8(ascii: " ") || bytes[index + 1] == UInt8(ascii: "\t")
                else { return marks }
                marks += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"): break
            default: return marks
            }
            index += 1
        }
        return marks
    }
}
