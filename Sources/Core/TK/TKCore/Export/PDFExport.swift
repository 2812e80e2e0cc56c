import Foundation
import Glibc
import OwnFiles
import Platform

/// Makes a PDF with an installed renderer; none is bundled. Blocks while it runs.
package enum PDFExport {
    /// A program that converts a page to PDF.
    package struct Renderer: Sendable, Equatable {
        package var name: String
        package var path: String

        /// Reads `page.html` in its working folder, and writes `page.pdf` there.
        func arguments(_ folder: BytePath) -> [String] {
            switch name {
            case "weasyprint": ["page.html", "page.pdf"]
            case "wkhtmltopdf":
                ["--quiet", "--disable-javascript", "--disable-local-file-access", "page.html", "page.pdf"]
            case "chromium":
                [
                    "--headless", "--disable-gpu", "--no-pdf-header-footer", "--user-data-dir=\(folder)/profile",
                    "--print-to-pdf=page.pdf", "page.html",
                ]
            case "libreoffice":
                [
                    "--headless", "-env:UserInstallation=file://\(folder)/profile", "--convert-to", "pdf",
                    "page.html",
                ]
            default: ["--standalone", "-f", "html", "-o", "page.pdf", "page.html"]
            }
        }
    }

    package static let names = ["weasyprint", "wkhtmltopdf", "chromium", "libreoffice", "pandoc"]

    /// The first one in a `PATH`.
    package static func renderer(path: String) -> Renderer? {
        for name in names {
            for folder in path.split(separator: ":") where folder.hasPrefix("/") {
                let program = "\(folder)/\(name)"
                if access(program, X_OK) == 0 { return Renderer(name: name, path: program) }
            }
        }
        return nil
    }

    /// - Parameter environment: of the renderer; variables that could hold a key are not passed on.
    /// - Throws: `Fault` that names the renderers if there is none, or with the renderer's own error.
    package static func bytes(_ draft: DraftExport, environment: [String: String]) throws -> [UInt8] {
        guard let renderer = renderer(path: environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin") else {
            throw Fault(
                .failed,
                "there is no program here that makes PDFs; install one of \(names.joined(separator: ", ")) "
                    + "(`apt install weasyprint`), or export to html or docx")
        }
        let folder = try PrivateFolder("tk-export", in: BytePath(environment["TMPDIR"] ?? "/tmp"))
        let result = Result { try render(draft, renderer, folder.path, environment) }
        try folder.remove()
        return try result.get()
    }

    private static func render(
        _ draft: DraftExport, _ renderer: Renderer, _ folder: BytePath, _ environment: [String: String]
    ) throws -> [UInt8] {
        try Durable.replaceOwn(
            folder.appending("page.html"), with: Array(HTMLExport.page(draft, isForRenderer: true).utf8))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: renderer.path)
        process.arguments = renderer.arguments(folder)
        process.currentDirectoryURL = URL(fileURLWithPath: folder.text)
        process.environment = environment.filter { ["PATH", "LANG", "LC_ALL", "TMPDIR", "TZ"].contains($0.key) }
            .merging(["HOME": folder.text]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let complaints = folder.appending("complaints")
        try Durable.replaceOwn(complaints, with: [])
        guard let handle = FileHandle(forWritingAtPath: complaints.text) else {
            throw Fault.system("open", complaints)
        }
        process.standardError = handle
        do {
            try process.run()
        } catch {
            throw Fault(.failed, "\(renderer.path) cannot be started: \(error.localizedDescription)")
        }
        process.waitUntilExit()
        let product = folder.appending("page.pdf")
        guard process.terminationStatus == 0, try FileStatus.of(product) != nil else {
            let said = String(decoding: try Descriptor(complaints).readAll().suffix(2000), as: UTF8.self)
            throw Fault(
                .failed,
                "\(renderer.name) made no PDF (it ended with \(process.terminationStatus)): "
                    + "\(Printable.line(said)). Export to html or docx instead")
        }
        return try Descriptor(product).readAll(limit: 512 << 20)
    }
}
