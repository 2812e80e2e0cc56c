/// The difference of two texts in the unified format, for `patch` and `git apply`.
public enum UnifiedDiff {
    /// - Parameters:
    ///   - oldName: the name after `---`, e.g. `a/draft.md`; names with control characters, quotation marks or
    ///     backslashes are quoted as `git` and `diff` do.
    ///   - context: unchanged lines shown around a change.
    /// - Returns: empty for equal texts.
    public static func text(
        from old: String, to new: String, oldName: String, newName: String, context: Int = 3
    ) -> String {
        let oldLines = lines(old)
        let newLines = lines(new)
        let changes = LineDifference.changes(from: oldLines, to: newLines)
        guard !changes.isEmpty else { return "" }
        let context = max(0, context)
        var out = "--- \(quoted(oldName))\n+++ \(quoted(newName))\n"
        var group: [LineDifference.Change] = []
        func flush() {
            guard let first = group.first, let last = group.last else { return }
            let start = max(0, first.old.lowerBound - context)
            let newStart = first.new.lowerBound - (first.old.lowerBound - start)
            let end = min(oldLines.count, last.old.upperBound + context)
            let newEnd = last.new.upperBound + (end - last.old.upperBound)
            out += "@@ -\(span(start..<end)) +\(span(newStart..<newEnd)) @@\n"
            var position = start
            for change in group {
                for index in position..<change.old.lowerBound { write(" ", oldLines[index], to: &out) }
                for index in change.old { write("-", oldLines[index], to: &out) }
                for index in change.new { write("+", newLines[index], to: &out) }
                position = change.old.upperBound
            }
            for index in position..<end { write(" ", oldLines[index], to: &out) }
            group = []
        }
        for change in changes {
            if let last = group.last, change.old.lowerBound - last.old.upperBound > 2 * context { flush() }
            group.append(change)
        }
        flush()
        return out
    }

    /// Lines with their LF; a CR is part of its line.
    private static func lines(_ text: String) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var line: [UInt8] = []
        for byte in text.utf8 {
            line.append(byte)
            if byte == UInt8(ascii: "\n") {
                lines.append(line)
                line = []
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    private static func span(_ range: Range<Int>) -> String {
        // An empty range is named by the line before it.
        if range.isEmpty { return "\(range.lowerBound),0" }
        return range.count == 1 ? "\(range.lowerBound + 1)" : "\(range.lowerBound + 1),\(range.count)"
    }

    private static func write(_ mark: String, _ line: [UInt8], to out: inout String) {
        out += mark + String(decoding: line, as: UTF8.self)
        if line.last != UInt8(ascii: "\n") { out += "\n\\ No newline at end of file\n" }
    }

    private static func quoted(_ name: String) -> String {
        let needsQuotes = name.utf8.contains {
            $0 < 32 || $0 == 127 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
        }
        // A name with a space is terminated by a tab.
        guard needsQuotes else { return name.utf8.contains(UInt8(ascii: " ")) ? name + "\t" : name }
        var out = "\""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\t": out += "\\t"
            case _ where scalar.value < 32 || scalar.value == 127:
                let octal = String(scalar.value, radix: 8)
                out += "\\" + String(repeating: "0", count: 3 - octal.count) + octal
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}

/// Which lines differ between two texts.
enum LineDifference {
    struct Change: Equatable {
        var old: Range<Int>
        var new: Range<Int>
    }

    /// Longer stretches without a line unique in both texts count as changed entirely.
    private static let mostLines = 1_500

    static func changes(from old: [[UInt8]], to new: [[UInt8]]) -> [Change] {
        var numbering = Numbering<[UInt8]>()
        let one = old.map { numbering.number($0) }
        let other = new.map { numbering.number($0) }
        var pairs: [(Int, Int)] = []
        LineComparison.compare(one, other) { match in
            switch match {
            case .equal(let i, let j): pairs.append((i, j))
            case .gap(let gap, let newGap):
                guard gap.count <= mostLines, newGap.count <= mostLines else { return }
                for (i, j) in LongestCommon.pairs(Array(one[gap]), Array(other[newGap])) {
                    pairs.append((gap.lowerBound + i, newGap.lowerBound + j))
                }
            }
        }
        var changes: [Change] = []
        var (i, j) = (0, 0)
        for (oldNext, newNext) in pairs + [(one.count, other.count)] {
            if i < oldNext || j < newNext { changes.append(Change(old: i..<oldNext, new: j..<newNext)) }
            (i, j) = (oldNext + 1, newNext + 1)
        }
        return changes
    }
}
