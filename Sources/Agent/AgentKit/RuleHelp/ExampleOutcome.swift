import Ledger
import OwnFiles
import Platform
import Rules

/// The outcome of an example, for comparison with its expectations.
struct ExampleOutcome: Sendable {
    private let jobs: [JobRecord]
    /// The file's original location: `downloads/a.pdf`.
    private let origin: String
    private let hash: ContentHash
    private let hashes: [String: ContentHash]
    private let texts: [String: String]
    private let tags: [String: [String]]
    private let trashed: Set<ContentHash>

    /// Size limit for comparing texts, in bytes.
    private static let longest: Int64 = 16 << 20

    /// Records the resulting files. Blocks.
    init(_ home: ExampleHome, jobs: [JobRecord], place: String, path: BytePath, hash: ContentHash) throws {
        self.jobs = jobs
        self.hash = hash
        origin = "\(place)/\(path.text)"
        var hashes: [String: ContentHash] = [:]
        var texts: [String: String] = [:]
        var tags: [String: [String]] = [:]
        for (name, path) in try home.files() {
            // Anything but a regular file has no content, and symlinks are not followed.
            guard let status = try FileStatus.of(path), status.kind == .file else { continue }
            let file = try Descriptor(path)
            hashes[name] = try ContentHash.of(file)
            if status.size <= Self.longest { texts[name] = String(decoding: try file.readAll(), as: UTF8.self) }
            let value = try ExtendedAttributes.value("user.xdg.tags", of: file)
            tags[name] = value.map { String(decoding: $0, as: UTF8.self).split(separator: ",").map(String.init) } ?? []
        }
        (self.hashes, self.texts, self.tags) = (hashes, texts, tags)
        trashed = Set(try home.trash().map { try ContentHash.ofFile($0) })
    }

    /// Why the jobs failed, unless the example expects that.
    func trouble(_ example: RuleExample) -> String? {
        for expectation in example.expectations {
            if case .refused = expectation.what { return nil }
        }
        return jobs.first { $0.state != .done }.map { "it was not done: \($0.problem ?? $0.state.rawValue)" }
    }

    /// nil if the expectation is met.
    func complaint(_ expected: RuleExample.Expectation.What) -> String? {
        switch expected {
        case .matches(let wanted):
            guard jobs.isEmpty == wanted else { return nil }
            return wanted ? "the rule should match it, but does not" : "the rule should not match it, but does"
        case .movedTo(let target):
            let path = whole(target)
            if path != origin, hashes[origin] == hash { return "it should have gone to \(path), but did not move" }
            return lies(path) ? nil : "it should be in \(path), but \(whereabouts)"
        case .copiedTo(let target):
            let path = whole(target)
            return lies(path) ? nil : "a copy should be in \(path), but \(whereabouts)"
        case .stays: return hashes[origin] == hash ? nil : "it should stay where it is, and \(whereabouts)"
        case .trashed:
            if hashes[origin] == hash { return "it should be in the trash, but did not move" }
            return trashed.contains(hash) ? nil : "it should be in the trash, but \(whereabouts)"
        case .gone:
            return trashed.contains(hash) || hashes.values.contains(hash)
                ? "it should be deleted, but \(whereabouts)" : nil
        case .holds(let path, let text):
            let found = names(path)
            if found.isEmpty { return "there should be a file \(path), but there is none" }
            if text.isEmpty || found.contains(where: { texts[$0]?.contains(text) ?? false }) { return nil }
            let seen = found.compactMap { texts[$0] }.joined(separator: "\n").prefix(400)
            return "\(path) should hold \"\(text)\", and holds \"\(seen)\""
        case .tags(let wanted):
            let file = hashes[origin] == hash ? origin : hashes.keys.sorted().first { hashes[$0] == hash }
            let found = file.flatMap { tags[$0] } ?? []
            if Set(found) == Set(wanted) { return nil }
            return "its tags should be \(list(wanted)), and are \(list(found))"
        case .refused(let reason):
            if jobs.contains(where: { $0.state != .done && $0.problem?.contains(reason) == true }) { return nil }
            let seen = jobs.compactMap(\.problem).first.map { "the reason is \"\($0)\"" } ?? "it is not"
            return "it should be refused because of \"\(reason)\", and \(seen)"
        }
    }

    private func list(_ tags: [String]) -> String { tags.isEmpty ? "none" : tags.joined(separator: ", ") }

    /// A bare name refers to the file's own folder.
    private func whole(_ target: String) -> String {
        guard !target.contains("/"), let cut = origin.lastIndex(of: "/") else { return target }
        return origin[...cut] + target
    }

    private func lies(_ path: String) -> Bool { names(path).contains { hashes[$0] == hash } }

    /// The files with that name, or matching it as a glob.
    private func names(_ path: String) -> [String] {
        if hashes[path] != nil { return [path] }
        guard let glob = try? TextGlob(path) else { return [] }
        return hashes.keys.filter { glob.matches($0) }.sorted()
    }

    private var whereabouts: String {
        let places = hashes.keys.filter { hashes[$0] == hash }.sorted()
        if !places.isEmpty { return "it is in \(places.joined(separator: " and "))" }
        if trashed.contains(hash) { return "it is in the trash" }
        return "its content is gone"
    }
}
