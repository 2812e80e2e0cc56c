/// The line ends of a text, so that what is put into it gets the same.
enum LineEndings {
    /// LF, or no line end at all.
    case lf
    /// CRLF throughout, but for lone CRs.
    case crlf
    /// Of several kinds: nobody can say which belong where.
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

    /// `text` with these line ends.
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
