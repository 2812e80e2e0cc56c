/// A one-page PDF whose forms draw each other, ten times each: its two kilobytes take days to draw.
///
/// - Parameter number: makes the content unique.
package func formBomb(_ number: Int) -> [UInt8] {
    let depth = 9
    var objects = [
        "<< /Type /Catalog /Pages 2 0 R /Number \(number) >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /XObject << /F 5 0 R >> >> >>",
        form("", "/F Do"),
    ]
    for level in 0..<depth {
        let isLast = level == depth - 1
        let next = isLast ? "" : " /Resources << /XObject << /F \(6 + level) 0 R >> >>"
        let content = isLast ? "0.5 g 0 0 600 700 re f" : String(repeating: "/F Do ", count: 10)
        objects.append(form("/Type /XObject /Subtype /Form /BBox [0 0 612 792]\(next)", content))
    }
    return pdf(objects: objects.map { Array($0.utf8) })
}

private func form(_ dictionary: String, _ content: String) -> String {
    "<< \(dictionary) /Length \(content.utf8.count) >>\nstream\n\(content)\nendstream"
}
