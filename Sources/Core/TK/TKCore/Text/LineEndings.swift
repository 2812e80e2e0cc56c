/// The line endings of a text, so that inserted text gets the same.
enum LineEndings {
    /// LF, or no line endings at all.
    case lf
    /// CRLF throughout, except for lone CRs.
    case crlf
    /// Several kinds, without a usable pattern.
    case mixed

    init(_ scalars: some Sequence<Unicode.Scalar>) {
        var last: Unicode.Scalar?
        var (pairs, lone, returns) = (0, 0, 0)
        for scalar in scalars {
            if scalar == "\n" { if last == "\r" { pairs += 1 } else { lone += 1 } }
            if scalar == "\r" { returns += 1 }
            last = scalar
        }
        self = returns == 0 ? .lf : lone == 0 && pairs > 0 ? .crlf : .mixed
    }

    /// `text` with these line endings.
    func adapted(_ text: String) -> String {
        if self == .mixed { return text }
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                if self == .lf, out.last == "\r" { out.removeLast() }
                if self == .crlf, out.last != "\r" { out.append("\r") }
            }
            out.append(scalar)
        }
        return String(out)
    }
}
