import Foundation
import Glibc
import OwnFiles
import Platform

/// Tells whether a draft has changed since it was indexed.
struct DraftStamp: Equatable, Sendable {
    var inode: Int64
    var size: Int64
    /// Nanoseconds since 1970.
    var modified: Int64
}

/// A draft found by a walk.
package struct DraftFile {
    package let path: BytePath
    let stamp: DraftStamp
    let project: String

    package struct Content {
        package let title: String
        let project: String
        let text: String
        let hash: String
        let stamp: DraftStamp
    }

    /// Nil if it is gone, is not text, or is a review's sidecar.
    package func read() throws -> Content? {
        let file: Descriptor
        do {
            file = try Descriptor(path)
        } catch let fault as Fault where fault.errno == ENOENT {
            return nil
        }
        if try SidecarMark.begins(file) { return nil }
        let bytes = try file.readAll(limit: DraftIndex.mostBytes)
        // A NUL means that the file is not text, despite its name.
        if bytes.contains(0) { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return Content(
            title: Self.title(of: text, path), project: project, text: text,
            hash: ContentHash(of: bytes).description, stamp: stamp)
    }

    /// `title:` from the front matter, else the first heading, else the file's name without its extension.
    static func title(of text: String, _ path: BytePath) -> String {
        var body = text[...]
        if let span = FrontMatterSpan(text.utf8.span) {
            let place = { text.utf8.index(text.startIndex, offsetBy: $0) }
            let front = text[place(span.inner.lowerBound)..<place(span.inner.upperBound)]
            if let title = FrontMatterTitle.find(in: firstLines(front)) { return String(title.prefix(200)) }
            body = text[place(span.end)...]
        }
        for line in firstLines(body).map({ $0.trimmingCharacters(in: .whitespaces) }) {
            guard let match = line.wholeMatch(of: /#{1,6}\s+(.+?)(?:\s+#+)?/) else { continue }
            return String(match.output.1.prefix(200))
        }
        return String(decoding: path.stemAndExtension.stem, as: UTF8.self)
    }

    private static func firstLines(_ text: Substring) -> [String] {
        text.split(maxSplits: 200, omittingEmptySubsequences: false, whereSeparator: \.isNewline).prefix(200)
            .map(String.init)
    }
}

/// Walks over the drafts below a folder. Blocks.
package final class DraftWalk {
    private let root: BytePath
    /// What could not be read, and why.
    package private(set) var problems: [String] = []
    /// Files and folders that could not be read.
    private(set) var unread: [BytePath] = []

    package init(_ root: BytePath) { self.root = root }

    /// Calls `body` for each draft; if it throws a `Fault`, the file becomes a problem.
    package func forEach(_ body: (DraftFile) throws -> Void) throws {
        guard let status = try FileStatus.of(root), status.kind != .other else {
            throw Fault(.usage, "\(root) does not exist; name a folder of drafts", path: root)
        }
        var folders = [(path: root, project: root.nameText, isRoot: true)]
        while let (folder, inherited, isRoot) = folders.popLast() {
            let entries: [ListedEntry]
            do {
                entries = try listDirectory(folder)
            } catch let fault as Fault where fault.errno == ENOENT && !isRoot {
                continue
            } catch let fault as Fault {
                note(folder, fault)
                continue
            }
            // A folder with its own settings is a separate project.
            let isProject = entries.contains { $0.name == Array(".tk".utf8) }
            let project = isProject ? folder.nameText : inherited
            for entry in entries.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
                let path = folder.appending(name: entry.name)
                if entry.name.first == UInt8(ascii: ".") || WorkNames.standard.first(matching: entry.name) != nil {
                    continue
                }
                guard let status = try FileStatus.of(path) else { continue }
                if status.kind == .directory {
                    folders.append((path, project, false))
                } else if status.kind == .file, Self.isDraft(path) {
                    visit(path, status, project, body)
                }
            }
        }
    }

    private func visit(
        _ path: BytePath, _ status: FileStatus, _ project: String, _ body: (DraftFile) throws -> Void
    ) {
        let stamp = DraftStamp(
            inode: Int64(bitPattern: status.inode), size: status.size, modified: status.fingerprint.modified)
        do {
            try body(DraftFile(path: path, stamp: stamp, project: project))
        } catch {
            note(path, error)
        }
    }

    private func note(_ path: BytePath, _ error: any Error) {
        unread.append(path)
        problems.append(explain(error))
    }

    /// By its name.
    package static func isDraft(_ path: BytePath) -> Bool {
        guard let suffix = path.stemAndExtension.extension else { return false }
        return DraftIndex.extensions.contains(String(decoding: suffix, as: UTF8.self).lowercased())
    }
}
