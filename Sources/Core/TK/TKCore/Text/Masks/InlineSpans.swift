/// Bare URLs and mail addresses in the text, by GFM's autolink rules.
enum Addresses {
    /// A URL around the colon at `colon`: `https://…`, `mailto:…`.
    static func url(at colon: Int, in scalars: [Unicode.Scalar], _ range: Range<Int>) -> Range<Int>? {
        var start = colon
        while start > range.lowerBound, isScheme(scalars[start - 1]) { start -= 1 }
        while start < colon, !isLetter(scalars[start]) { start += 1 }
        guard colon - start >= 2 else { return nil }
        var end = colon + 1
        let hasSlashes = colon + 2 < range.upperBound && scalars[colon + 1] == "/" && scalars[colon + 2] == "/"
        let scheme = String(String.UnicodeScalarView(scalars[start..<colon])).lowercased()
        guard hasSlashes || ["mailto", "tel", "doi", "urn", "xmpp"].contains(scheme) else { return nil }
        if hasSlashes { end = colon + 3 }
        let body = end
        end = endOfAddress(from: end, in: scalars, range)
        return end > body ? start..<end : nil
    }

    /// `www.…` around the dot at `dot`.
    static func web(at dot: Int, in scalars: [Unicode.Scalar], _ range: Range<Int>) -> Range<Int>? {
        let start = dot - 3
        guard start >= range.lowerBound, scalars[start..<dot].allSatisfy({ $0 == "w" || $0 == "W" }),
            start == range.lowerBound || !isScheme(scalars[start - 1]),
            dot + 1 < range.upperBound, isLetter(scalars[dot + 1])
        else { return nil }
        return start..<endOfAddress(from: dot + 1, in: scalars, range)
    }

    /// A mail address around the `@` at `sign`.
    static func mail(at sign: Int, in scalars: [Unicode.Scalar], _ range: Range<Int>) -> Range<Int>? {
        var start = sign
        while start > range.lowerBound, isScheme(scalars[start - 1]) || scalars[start - 1] == "_" { start -= 1 }
        var end = sign + 1
        var hasDot = false
        while end < range.upperBound, isScheme(scalars[end]) || scalars[end] == "_" {
            hasDot = hasDot || scalars[end] == "."
            end += 1
        }
        while end > sign + 1, scalars[end - 1] == "." || scalars[end - 1] == "-" { end -= 1 }
        return start < sign && end > sign + 1 && hasDot ? start..<end : nil
    }

    private static func endOfAddress(from start: Int, in scalars: [Unicode.Scalar], _ range: Range<Int>) -> Int {
        var end = start
        var open = 0
        while end < range.upperBound {
            let scalar = scalars[end]
            if scalar == "<" || scalar == ">" || scalar == "\"" || scalar == "`" || scalar.properties.isWhitespace {
                break
            }
            if scalar == "(" { open += 1 }
            if scalar == ")" {
                // `[text](https://…)`: the bracket belongs to the link.
                if open == 0 { break }
                open -= 1
            }
            if scalar == "]", open == 0 { break }
            end += 1
        }
        while end > start, "?!.,:;*_~'|".unicodeScalars.contains(scalars[end - 1]) { end -= 1 }
        return end
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { (scalar.value | 32) &- 97 < 26 }

    /// A character of a scheme, a domain or the local part of an address.
    private static func isScheme(_ scalar: Unicode.Scalar) -> Bool {
        isLetter(scalar) || scalar.value &- 48 < 10 || scalar == "." || scalar == "+" || scalar == "-"
    }
}

/// Link destinations and labels.
enum Links {
    /// The maximum nesting of brackets in a destination, as in cmark, so that many openings do not cost quadratic time.
    private static let deepestBrackets = 32

    /// The end of an inline link whose destination starts at the bracket `open`: `(url "title")`.
    static func endOfDestination(_ open: Int, in scalars: [Unicode.Scalar], _ range: Range<Int>) -> Int? {
        var index = skipSpace(open + 1, scalars, range)
        guard index < range.upperBound else { return nil }
        if scalars[index] == "<" {
            index += 1
            while index < range.upperBound, scalars[index] != ">" {
                if scalars[index] == "\n" || scalars[index] == "<" { return nil }
                index += scalars[index] == "\\" ? 2 : 1
            }
            index += 1
        } else {
            var depth = 0
            scan: while index < range.upperBound {
                switch scalars[index] {
                case "\\": index += 1
                case "(":
                    depth += 1
                    if depth > deepestBrackets { return nil }
                case ")":
                    if depth == 0 { break scan }
                    depth -= 1
                case " ", "\t", "\n", "\r": break scan
                default: break
                }
                index += 1
            }
        }
        index = skipSpace(index, scalars, range)
        guard index < range.upperBound else { return nil }
        let quote = scalars[index]
        if quote == "\"" || quote == "'" || quote == "(" {
            let closing: Unicode.Scalar = quote == "(" ? ")" : quote
            index += 1
            while index < range.upperBound, scalars[index] != closing {
                if quote == "(", scalars[index] == "(" { return nil }
                index += scalars[index] == "\\" ? 2 : 1
            }
            index = skipSpace(index + 1, scalars, range)
        }
        return index < range.upperBound && scalars[index] == ")" ? index + 1 : nil
    }

    /// The end of a label that starts at the bracket `open`; at most 999 scalars, as in CommonMark.
    static func endOfLabel(_ open: Int, in scalars: [Unicode.Scalar], _ range: Range<Int>) -> Int? {
        var index = open + 1
        while index < min(range.upperBound, open + 1_000) {
            switch scalars[index] {
            case "\\": index += 1
            case "[": return nil
            case "]": return index + 1
            default: break
            }
            index += 1
        }
        return nil
    }

    private static func skipSpace(_ start: Int, _ scalars: [Unicode.Scalar], _ range: Range<Int>) -> Int {
        var index = start
        while index < range.upperBound, " \t\n\r".unicodeScalars.contains(scalars[index]) { index += 1 }
        return index
    }
}

/// HTML tags, autolinks in angle brackets, declarations and processing instructions.
enum Tags {
    /// Elements whose content is not prose.
    private static let codeElements: Set<String> = [
        "code", "kbd", "samp", "var", "tt", "pre", "script", "style", "math", "svg", "textarea",
    ]

    /// The end of a tag or an autolink that starts at `start`; nil if the `<` is text.
    static func end(of start: Int, in scalars: [Unicode.Scalar], _ range: Range<Int>) -> Int? {
        guard start + 1 < range.upperBound else { return nil }
        let first = scalars[start + 1]
        let isName = (first.value | 32) &- 97 < 26
        guard isName || first == "/" || first == "?" || first == "!" else { return nil }
        var index = start + 1
        var quote: Unicode.Scalar?
        let limit = min(range.upperBound, start + 4_000)
        while index < limit {
            let scalar = scalars[index]
            if let open = quote {
                if scalar == open { quote = nil }
            } else if (scalar == "\"" || scalar == "'") && scalars[index - 1] == "=" {
                quote = scalar
            } else if scalar == ">" {
                return index + 1
            } else if scalar == "<" {
                return nil
            }
            index += 1
        }
        return nil
    }

    /// The name of an element such as `<code>` whose tag starts at `start`; nil for other elements and without content.
    static func codeElement(_ start: Int, tagEnd: Int, in scalars: [Unicode.Scalar], _ range: Range<Int>) -> String? {
        let name = self.name(at: start + 1, in: scalars, range)
        return codeElements.contains(name) && scalars[tagEnd - 2] != "/" ? name : nil
    }

    /// The end of an element's closing tag; nil if it is not closed.
    static func closing(
        of name: String, from start: Int, in scalars: [Unicode.Scalar], _ range: Range<Int>
    ) -> Int? {
        var index = start
        while index + 1 < range.upperBound {
            if scalars[index] == "<", scalars[index + 1] == "/", self.name(at: index + 2, in: scalars, range) == name,
                let end = end(of: index, in: scalars, range)
            {
                return end
            }
            index += 1
        }
        return nil
    }

    private static func name(at start: Int, in scalars: [Unicode.Scalar], _ range: Range<Int>) -> String {
        var end = start
        while end < min(range.upperBound, start + 12), (scalars[end].value | 32) &- 97 < 26 { end += 1 }
        return String(String.UnicodeScalarView(scalars[start..<end])).lowercased()
    }
}
