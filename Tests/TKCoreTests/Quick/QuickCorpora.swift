import Foundation
import Platform
import TestSupport
import Testing

/// Prose that is the same wherever the tests run: from this repository, and from Debian packages listed in
/// `packaging/system-packages.txt`; a test that needs one that is not installed is cancelled.
enum ProseCorpora {
    /// Paragraphs of the Debian handbook as Markdown, with its code in backticks.
    static func handbook(words: Int) throws -> String {
        let folder = "/usr/share/doc/debian-handbook/html/en-US"
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter {
            $0.hasSuffix(".html")
        }
        if names.isEmpty { try Test.cancel("debian-handbook is not installed") }
        var paragraphs: [String] = []
        var count = 0
        for name in names.sorted() where count < words {
            let html = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            for part in html.components(separatedBy: "<div class=\"para\">").dropFirst() {
                let paragraph = markdown(part.components(separatedBy: "</div>")[0])
                count += paragraph.split(whereSeparator: \.isWhitespace).count
                paragraphs.append(paragraph)
            }
        }
        return paragraphs.joined(separator: "\n\n")
    }

    /// Books of the King James Bible, without verse numbers.
    static func bible(_ books: [String]) throws -> String {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/bible") else {
            try Test.cancel("bible-kjv is not installed")
        }
        return try books.map { book in
            try runProgram(["/usr/bin/bible", "-f", book]).output.split(separator: "\n")
                .map { $0.drop { $0 != " " }.dropFirst() }.joined(separator: "\n\n")
        }.joined(separator: "\n\n")
    }

    /// The first chapters of a novel, from the fixtures.
    static func novel() throws -> String {
        try text(Checkout.root.text + "/Tests/Fixtures/tk/persuasion.txt")
    }

    /// The documentation in this repository, each page with its path.
    static func markdownFiles() throws -> [(path: String, text: String)] {
        let root = Checkout.root.text
        let documents = try FileManager.default.contentsOfDirectory(atPath: root + "/docs").sorted()
            .filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
        return try (["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] + documents).map {
            ("\(root)/\($0)", try text("\(root)/\($0)"))
        }
    }

    /// Plain-text READMEs from the package `git`.
    static func plainFiles() throws -> [String] {
        try runProgram(["/usr/bin/find", "-L", "/usr/share/doc/git", "-name", "README", "-o", "-name", "README.Debian"])
            .output
            .split(separator: "\n").map(String.init).sorted().map { try text($0) }
    }

    static func documentation(atMost count: Int, scalars: Int) throws -> [String] {
        try markdownFiles().map(\.text).filter { $0.unicodeScalars.count > 4_000 }.prefix(count)
            .map { String($0.prefix(scalars)) }
    }

    /// From packages that the build and the tests need.
    static func changelogs(atMost count: Int, scalars: Int) throws -> [String] {
        try ["dbus", "git", "nano", "patch", "systemd", "tmux"]
            .map { "/usr/share/doc/\($0)/changelog.Debian.gz" }
            .filter { FileManager.default.fileExists(atPath: $0) }.prefix(count)
            .map { String(try text($0).prefix(scalars)) }
    }

    private static func text(_ path: String) throws -> String {
        path.hasSuffix(".gz")
            ? try runProgram(["/bin/zcat", path]).output
            : String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }

    private static func markdown(_ html: String) -> String {
        var text = ""
        var rest = Substring(html)
        while let open = rest.firstIndex(of: "<") {
            text += rest[..<open]
            guard let close = rest[open...].firstIndex(of: ">") else { break }
            let tag = rest[open...close]
            if tag.hasPrefix("<code") || tag.hasPrefix("</code") { text += "`" }
            rest = rest[rest.index(after: close)...]
        }
        text += rest
        for (entity, plain) in [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&nbsp;", " ")] {
            text = text.replacing(entity, with: plain)
        }
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
