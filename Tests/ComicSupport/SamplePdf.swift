import Foundation

/// One page of a PDF that a test makes.
package struct PdfSample {
    /// Points, as in the page's box; `turn` is its rotation in degrees.
    package var width = 612
    package var height = 792
    package var turn = 0
    /// What is drawn on it; by default a rectangle in a colour unique to the page number.
    package var content: String?
    /// A picture that fills the page: the stream's dictionary entries and its bytes.
    package var picture: (dictionary: String, bytes: [UInt8])?

    package init(
        width: Int = 612, height: Int = 792, turn: Int = 0, content: String? = nil,
        picture: (dictionary: String, bytes: [UInt8])? = nil
    ) {
        (self.width, self.height, self.turn, self.content, self.picture) = (width, height, turn, content, picture)
    }
}

/// A handmade PDF with these pages.
///
/// - Parameter trailer: additional entries of the trailer, such as one that claims encryption.
package func pdf(_ pages: [PdfSample], trailer: String = "", count: Int? = nil) -> [UInt8] {
    var objects: [[UInt8]] = [Array("<< /Type /Catalog /Pages 2 0 R >>".utf8)]
    let kids = pages.indices.map { "\(3 + 3 * $0) 0 R" }.joined(separator: " ")
    objects.append(Array("<< /Type /Pages /Kids [\(kids)] /Count \(count ?? pages.count) >>".utf8))
    for (index, page) in pages.enumerated() {
        let content =
            page.content
            ?? (page.picture == nil
                ? "0.\(index % 10) 0.5 0.\((index + 5) % 10) rg 0 0 \(page.width) \(page.height / 2) re f"
                : "q \(page.width) 0 0 \(page.height) 0 0 cm /P Do Q")
        objects.append(
            Array(
                """
                << /Type /Page /Parent 2 0 R /MediaBox [0 0 \(page.width) \(page.height)] /Rotate \(page.turn) \
                /Contents \(4 + 3 * index) 0 R /Resources << /XObject << /P \(5 + 3 * index) 0 R >> >> >>
                """.utf8))
        objects.append(stream("", Array(content.utf8)))
        objects.append(stream(page.picture?.dictionary ?? "", page.picture?.bytes ?? []))
    }
    return pdf(objects: objects, trailer: trailer)
}

/// A PDF of these objects, the first of which is its catalogue.
func pdf(objects: [[UInt8]], trailer: String = "") -> [UInt8] {
    var bytes = Array("%PDF-1.4\n".utf8)
    var places: [Int] = []
    for (index, object) in objects.enumerated() {
        places.append(bytes.count)
        bytes += Array("\(index + 1) 0 obj\n".utf8) + object + Array("\nendobj\n".utf8)
    }
    let table = places.map { String(format: "%010d 00000 n \n", $0) }.joined()
    let end = """
        xref
        0 \(objects.count + 1)
        0000000000 65535 f \n\(table)trailer
        << /Size \(objects.count + 1) /Root 1 0 R \(trailer) >>
        startxref
        \(bytes.count)
        %%EOF

        """
    return bytes + Array(end.utf8)
}

private func stream(_ dictionary: String, _ bytes: [UInt8]) -> [UInt8] {
    Array("<< \(dictionary) /Length \(bytes.count) >>\nstream\n".utf8) + bytes + Array("\nendstream".utf8)
}
