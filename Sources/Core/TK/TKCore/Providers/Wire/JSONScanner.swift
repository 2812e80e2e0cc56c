/// Parses one object or list of almost-JSON into JSON: trailing commas are dropped, raw control characters in strings
/// and unknown escapes are repaired, lone surrogates become U+FFFD, and Python's `True`, `False` and `None` are
/// translated. Iterative: no nesting can exhaust the stack.
struct JSONScanner {
    enum Outcome {
        case whole(String)
        case partial(String)
        case nothing
    }

    /// The valid next elements in a container.
    private enum Expectation { case firstKey, key, colon, value, firstItem, item, separator }

    private struct Frame {
        let isList: Bool
        var expects: Expectation
        /// The length of the output up to the last complete item or member.
        var safe: Int
        /// The corresponding position in the input.
        var end: Int
        var count = 0
    }

    private let bytes: [UInt8]
    /// After the value, once it has been read completely.
    private(set) var position: Int
    /// After the last byte used in a partial value.
    private(set) var kept = 0
    /// The remaining steps.
    private(set) var budget: Int
    private var out: [UInt8] = []
    private var frames: [Frame] = []

    init(bytes: [UInt8], position: Int, budget: Int) {
        self.bytes = bytes
        self.position = position
        self.budget = budget
    }

    mutating func scan() -> Outcome {
        guard open() else { return .nothing }
        while let frame = frames.last {
            skipBlanks()
            guard position < bytes.count, budget > 0 else { return salvage() }
            let byte = bytes[position]
            switch frame.expects {
            case .firstKey, .key:
                if byte == UInt8(ascii: "}") {
                    close()
                } else if byte == UInt8(ascii: "\"") {
                    if frame.count > 0 { out.append(UInt8(ascii: ",")) }
                    guard string() else { return salvage() }
                    expect(.colon)
                } else {
                    return salvage()
                }
            case .colon:
                guard byte == UInt8(ascii: ":") else { return salvage() }
                step()
                out.append(byte)
                expect(.value)
            case .firstItem, .item:
                if byte == UInt8(ascii: "]") {
                    close()
                } else {
                    if frame.count > 0 { out.append(UInt8(ascii: ",")) }
                    guard value(byte) else { return salvage() }
                }
            case .value:
                guard value(byte) else { return salvage() }
            case .separator:
                if byte == UInt8(ascii: ",") {
                    step()
                    expect(frame.isList ? .item : .key)
                } else if byte == (frame.isList ? UInt8(ascii: "]") : UInt8(ascii: "}")) {
                    close()
                } else {
                    return salvage()
                }
            }
        }
        return .whole(String(decoding: out, as: UTF8.self))
    }

    // MARK: Structure

    private mutating func expect(_ next: Expectation) { frames[frames.count - 1].expects = next }

    private mutating func step() {
        position += 1
        budget -= 1
    }

    private mutating func skipBlanks() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { step() }
    }

    private mutating func open() -> Bool {
        guard frames.count < JSONSalvage.depthLimit else { return false }
        let isList = bytes[position] == UInt8(ascii: "[")
        out.append(bytes[position])
        step()
        frames.append(Frame(isList: isList, expects: isList ? .firstItem : .firstKey, safe: out.count, end: position))
        return true
    }

    private mutating func close() {
        let frame = frames.removeLast()
        out.append(frame.isList ? UInt8(ascii: "]") : UInt8(ascii: "}"))
        step()
        completed()
    }

    /// A value is complete: the surrounding container may be cut after it.
    private mutating func completed() {
        guard !frames.isEmpty else { return }
        frames[frames.count - 1].safe = out.count
        frames[frames.count - 1].end = position
        frames[frames.count - 1].count += 1
        expect(.separator)
    }

    /// The usable part of a broken value: everything up to the last complete item of the outermost list.
    private mutating func salvage() -> Outcome {
        let list = frames.firstIndex { $0.isList && $0.count > 0 } ?? frames.firstIndex { $0.isList } ?? 0
        guard frames.indices.contains(list), frames[list].count > 0 || frames[0].count > 0 else {
            return .nothing
        }
        // A list without a complete item is dropped if it is not the first element.
        let cut = frames[list].count > 0 ? list : 0
        kept = frames[cut].end
        out.removeSubrange(frames[cut].safe...)
        for frame in frames[...cut].reversed() {
            out.append(frame.isList ? UInt8(ascii: "]") : UInt8(ascii: "}"))
        }
        return .partial(String(decoding: out, as: UTF8.self))
    }

    // MARK: Values

    private mutating func value(_ first: UInt8) -> Bool {
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return open()
        case UInt8(ascii: "\""):
            guard string() else { return false }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            guard number() else { return false }
        default:
            guard word() else { return false }
        }
        completed()
        return true
    }

    private mutating func word() -> Bool {
        let words: [(String, String)] = [
            ("true", "true"), ("false", "false"), ("null", "null"), ("True", "true"), ("False", "false"),
            ("None", "null"),
        ]
        for (word, json) in words where bytes[position...].starts(with: word.utf8) {
            let end = position + word.utf8.count
            guard end < bytes.count, !Self.isWordByte(bytes[end]) else { return false }
            while position < end { step() }
            out.append(contentsOf: json.utf8)
            return true
        }
        return false
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private mutating func number() -> Bool {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { step() }
        let leading = position
        guard digits() else { return false }
        if bytes[leading] == UInt8(ascii: "0"), position > leading + 1 { return false }
        if at("."), !fraction() { return false }
        if at("e") || at("E") {
            step()
            if at("+") || at("-") { step() }
            guard digits() else { return false }
        }
        // The text may have been cut within the number.
        guard position < bytes.count else { return false }
        // Decoders refuse numbers beyond the range of a Double.
        guard Double(String(decoding: bytes[start..<position], as: UTF8.self))?.isFinite == true else { return false }
        out.append(contentsOf: bytes[start..<position])
        return true
    }

    private mutating func fraction() -> Bool {
        step()
        return digits()
    }

    private func at(_ character: Unicode.Scalar) -> Bool {
        position < bytes.count && bytes[position] == UInt8(ascii: character)
    }

    private mutating func digits() -> Bool {
        let start = position
        while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) { step() }
        return position > start
    }

    // MARK: Strings

    private mutating func string() -> Bool {
        out.append(UInt8(ascii: "\""))
        step()
        while position < bytes.count, budget > 0 {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                out.append(byte)
                step()
                return true
            case UInt8(ascii: "\\"):
                guard escape() else { return false }
            case 0..<0x20:
                appendEscaped(UInt32(byte))
                step()
            default:
                out.append(byte)
                step()
            }
        }
        return false
    }

    private mutating func escape() -> Bool {
        step()
        guard position < bytes.count else { return false }
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            out.append(UInt8(ascii: "\\"))
            out.append(byte)
            step()
        case UInt8(ascii: "u"): unicode()
        case 0x0A, 0x0D: step()
        // `\'` and the like mean the character; a non-ASCII one is copied by the caller.
        default:
            if byte >= 0x20 && byte < 0x80 {
                out.append(byte)
                step()
            }
        }
        return true
    }

    /// At the `u` of an escape. Without four digits the letter stays.
    private mutating func unicode() {
        step()
        guard let unit = hex(at: position) else {
            out.append(UInt8(ascii: "u"))
            return
        }
        skip(4)
        guard (0xD800...0xDFFF).contains(unit) else { return appendEscaped(unit) }
        if unit < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u"), let low = hex(at: position + 2), (0xDC00...0xDFFF).contains(low)
        {
            skip(6)
            appendEscaped(unit)
            return appendEscaped(low)
        }
        appendEscaped(0xFFFD)
    }

    private mutating func skip(_ count: Int) {
        for _ in 0..<count { step() }
    }

    private func hex(at start: Int) -> UInt32? {
        guard start + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for byte in bytes[start..<start + 4] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value * 16 + UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value * 16 + UInt32(byte - UInt8(ascii: "a")) + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value * 16 + UInt32(byte - UInt8(ascii: "A")) + 10
            default: return nil
            }
        }
        return value
    }

    private mutating func appendEscaped(_ unit: UInt32) {
        let digits = Array("0123456789abcdef".utf8)
        out.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "u")])
        for shift in [12, 8, 4, 0] { out.append(digits[Int(unit >> UInt32(shift)) & 0xF]) }
    }
}
