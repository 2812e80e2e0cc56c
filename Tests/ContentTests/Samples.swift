import Platform
import TestSupport

/// Handmade documents, pictures and sounds for tests.
enum Sample {
    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    // MARK: - Documents

    static func docx(_ paragraphs: [String], title: String? = nil) -> [UInt8] {
        let body = paragraphs.map { "<w:p><w:r><w:t>\($0)</w:t></w:r></w:p>" }.joined()
        let document =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><w:document xmlns:w=\"http://w\"><w:body>\(body)</w:body></w:document>"
        let core =
            "<cp:coreProperties xmlns:cp=\"http://c\" xmlns:dc=\"http://d\"><dc:title>\(title ?? "")</dc:title>"
            + "<dc:creator>A. Writer</dc:creator></cp:coreProperties>"
        let app = "<Properties><Pages>3</Pages></Properties>"
        return ZipWriter.archive([
            ("[Content_Types].xml", bytes("<Types/>")), ("word/document.xml", bytes(document)),
            ("docProps/core.xml", bytes(core)), ("docProps/app.xml", bytes(app)),
        ])
    }

    static func odt(_ paragraphs: [String]) -> [UInt8] {
        let body = paragraphs.map { "<text:p>\($0)</text:p>" }.joined()
        let content = "<o:document xmlns:o=\"http://o\" xmlns:text=\"http://t\"><o:body>\(body)</o:body></o:document>"
        return ZipWriter.archive([
            ("mimetype", bytes("application/vnd.oasis.opendocument.text")), ("content.xml", bytes(content)),
            (
                "meta.xml",
                bytes(
                    "<o:meta xmlns:o=\"http://o\" xmlns:dc=\"http://d\" xmlns:meta=\"http://m\"><dc:title>Letter</dc:title>"
                        + "<meta:document-statistic meta:page-count=\"2\"/></o:meta>")
            ),
        ])
    }

    static func epub(_ chapters: [String]) -> [UInt8] {
        let parts = chapters.enumerated().map {
            ("OEBPS/\($0.offset).xhtml", bytes("<html><body>\($0.element)</body></html>"))
        }
        let package =
            "<package xmlns:dc=\"http://d\"><metadata><dc:title>The Book</dc:title><dc:creator>B. Author</dc:creator>"
            + "</metadata></package>"
        return ZipWriter.archive(
            [("mimetype", bytes("application/epub+zip")), ("OEBPS/content.opf", bytes(package))] + parts)
    }

    /// One page with these lines in Helvetica, and a title.
    static func pdf(_ lines: [String], title: String = "A Title") -> [UInt8] {
        let drawn = lines.map { "(\($0)) Tj 0 -14 Td" }.joined(separator: "\n")
        let content = "BT /F1 12 Tf 72 720 Td\n\(drawn)\nET"
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
                + "/Resources << /Font << /F1 5 0 R >> >> >>",
            "<< /Length \(content.utf8.count) >>\nstream\n\(content)\nendstream",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            "<< /Title (\(title)) /Author (C. Sender) >>",
        ]
        var out = bytes("%PDF-1.4\n")
        var places: [Int] = []
        for (index, object) in objects.enumerated() {
            places.append(out.count)
            out += bytes("\(index + 1) 0 obj\n\(object)\nendobj\n")
        }
        let start = out.count
        out += bytes("xref\n0 \(objects.count + 1)\n0000000000 65535 f \n")
        for place in places {
            let digits = String(place)
            out += bytes(String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n")
        }
        return out
            + bytes("trailer\n<< /Size \(objects.count + 1) /Root 1 0 R /Info 6 0 R >>\nstartxref\n\(start)\n%%EOF\n")
    }

    // MARK: - Pictures

    static func photo() -> [UInt8] { SamplePhoto().jpeg() }

    // MARK: - Sound and films

    /// An MP4 of 90.5 seconds and 1920 × 1080 pixels: only its headers.
    static func film() -> [UInt8] {
        func big(_ value: Int, _ width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(value >> ($0 * 8) & 255) }
        }
        func box(_ name: String, _ body: [UInt8]) -> [UInt8] { big(body.count + 8, 4) + bytes(name) + body }
        let movie = big(0, 12) + big(1_000, 4) + big(90_500, 4) + big(0, 80)
        let track = big(0, 76) + big(1920 << 16, 4) + big(1080 << 16, 4)
        return box("ftyp", bytes("isom") + big(0, 4) + bytes("isommp42"))
            + box("moov", box("mvhd", movie) + box("trak", box("tkhd", track))) + box("mdat", [1, 2, 3])
    }
}
