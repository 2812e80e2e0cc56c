import Foundation
import Glibc
import OwnFiles
import Platform

/// A list of words that somebody has declared correct: one per line, `#` begins a comment. Files in Hunspell's `.dic`
/// format are read as well, without their flags. Everything here blocks.
package struct WordFile: Sendable {
    package let path: BytePath
    private let reader: ProjectReader

    package init(_ path: BytePath, _ reader: ProjectReader = .paths) { (self.path, self.reader) = (path, reader) }

    /// A user's own words.
    package init(home: TKHome) { self.init(home.folder.appending(Self.names[0])) }

    /// The names in a folder `.tk`.
    package static let names = ["words.txt", "words.dic"]

    /// The lists in `.tk` of a folder and of the folders above it, nearest first.
    ///
    /// - Parameter folder: an absolute path.
    package static func all(above folder: BytePath, _ reader: ProjectReader = .paths) throws -> [WordFile] {
        var found: [WordFile] = []
        var folder = folder
        while true {
            for name in names {
                let path = folder.appending(".tk").appending(name)
                if try reader.status(path) != nil { found.append(WordFile(path, reader)) }
            }
            guard folder != reader.top, folder.bytes.count > 1 else { return found }
            folder = folder.parent
        }
    }

    /// The words in the file's order; none if there is no file.
    ///
    /// - Throws: `Fault` if it is no file in UTF-8.
    package func words() throws -> [String] { Self.words(try lines()) }

    /// Appends the words that are not yet there. Atomic.
    ///
    /// - Returns: those words.
    package func add(_ words: [String]) throws -> [String] {
        let words = try words.map(Self.checked)
        return try TKFile.exclusively(in: path.parent) {
            let lines = try self.lines()
            var known = Set(Self.words(lines))
            let new = words.filter { known.insert($0).inserted }
            if !new.isEmpty { try write(lines + new) }
            return new
        }
    }

    /// Removes words. Atomic; comments stay.
    ///
    /// - Returns: those that were there.
    package func remove(_ words: [String]) throws -> [String] {
        let wanted = Set(words.map(\.precomposedStringWithCanonicalMapping))
        return try TKFile.exclusively(in: path.parent) {
            let lines = try self.lines()
            let kept = lines.filter { wanted.isDisjoint(with: Self.words(inLine: $0)) }
            let there = Set(Self.words(lines)).intersection(wanted)
            if kept.count < lines.count { try write(kept) }
            return there.sorted()
        }
    }

    private func lines() throws -> [String] {
        guard try reader.status(path) != nil else { return [] }
        guard let text = String(validating: try reader.read(path), as: UTF8.self) else {
            throw Fault(.usage, "\(path) is not UTF-8; save it as UTF-8", path: path)
        }
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
        return lines.last == "" ? lines.dropLast() : lines
    }

    private func write(_ lines: [String]) throws {
        try TKFile.replace(path, with: lines.map { $0 + "\n" }.joined(), mode: 0o644)
    }

    private static func words(_ lines: [String]) -> [String] {
        // In Hunspell's format the first line is the number of words.
        let isDictionary = lines.first.map { $0.allSatisfy { $0.isNumber || $0.isWhitespace } } ?? false
        return lines.dropFirst(isDictionary ? 1 : 0).flatMap(words(inLine:))
    }

    /// Without flags and morphological fields (`word/FLAGS po:noun`).
    private static func words(inLine line: String) -> [String] {
        line.prefix { $0 != "#" && $0 != "/" && $0 != "\t" }.split(whereSeparator: \.isWhitespace)
            .filter { !$0.contains(":") }.map { String($0).precomposedStringWithCanonicalMapping }
    }

    private static func checked(_ word: String) throws -> String {
        guard words(inLine: word).joined() == word.precomposedStringWithCanonicalMapping, !word.isEmpty else {
            throw Fault(
                .usage, "`\(BytePath.escape(word.utf8))` is not one word; name words without blanks, # / and :")
        }
        return word.precomposedStringWithCanonicalMapping
    }
}
