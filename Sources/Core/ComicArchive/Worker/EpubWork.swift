import Platform

/// The pages of an EPUB in the order of its spine, found with the worker's help: it hands over the small documents, and
/// they are read here, by a parser that resolves nothing.
struct EpubOrder: Sendable {
    /// The pictures' paths in reading order; empty where the spine yields none, and the natural order of paths holds.
    var pictures: [[UInt8]] = []
    /// What the spine names and cannot be had, one line each.
    var damage: [String] = []
    /// Whether a page is encrypted, as shops do it.
    var isEncrypted = false

    /// For people, after the file's name.
    static let encryptedMessage =
        "its pages are encrypted by the shop that sold it (DRM), so that only the shop's own program shows them; get "
        + "it without"

    /// Bytes of all documents of the spine, which are parsed in the agent; those of comics have a kilobyte each.
    private static let limit = 8 << 20

    /// - Parameter headers: of the whole archive.
    /// - Returns: nil where it is no EPUB.
    static func read(_ headers: [EntryHeader], _ read: ([Int], Int) throws -> [Int: [UInt8]]) throws -> EpubOrder? {
        let places = Dictionary(
            headers.filter { $0.kind == .file }.map { ($0.path, $0.position) }, uniquingKeysWith: { first, _ in first })
        guard let container = places[Epub.container] else { return nil }
        do {
            return try order(headers, places, container, read)
        } catch let problem as XMLTree.Problem {
            return EpubOrder(damage: ["the list of its pages cannot be read: \(problem.reason)"])
        }
    }

    private static func order(
        _ headers: [EntryHeader], _ places: [[UInt8]: Int], _ container: Int,
        _ read: ([Int], Int) throws -> [Int: [UInt8]]
    ) throws -> EpubOrder {
        let first = try read([container] + (places[Epub.encryption].map { [$0] } ?? []), XMLTree.sizeLimit)
        guard let package = try Epub.package(first[container] ?? []), let place = places[package] else {
            return EpubOrder(damage: ["the list of its pages is missing"])
        }
        let encrypted = try places[Epub.encryption].flatMap { first[$0] }.map { try Epub.encrypted($0) } ?? []
        // Each document once: its pictures are pages only where they stand first.
        var named: Set<Epub.SpineItem> = []
        let spine = try Epub.spine(try read([place], XMLTree.sizeLimit)[place] ?? [], at: package)
            .filter { named.insert($0).inserted }
        let documents = spine.compactMap { if case .document(let path) = $0 { path } else { nil } }
        let pages = headers.filter { EntryRole(of: $0) == .page }.map(\.path)
        if !encrypted.isDisjoint(with: pages + documents + [package]) { return EpubOrder(isEncrypted: true) }
        let texts = try read(documents.compactMap { places[$0] }, limit)
        var order = EpubOrder()
        var seen: Set<[UInt8]> = []
        for item in spine {
            for picture in try pictures(item, places, texts, &order.damage) where seen.insert(picture).inserted {
                order.consume(picture, places)
            }
        }
        return order
    }

    private static func pictures(
        _ item: Epub.SpineItem, _ places: [[UInt8]: Int], _ texts: [Int: [UInt8]], _ damage: inout [String]
    ) throws -> [[UInt8]] {
        guard case .document(let path) = item else {
            if case .picture(let path) = item { return [path] }
            return []
        }
        guard let text = places[path].flatMap({ texts[$0] }) else {
            damage.append("\(BytePath(bytes: path)), which shows a page, is missing")
            return []
        }
        do {
            return try Epub.pictures(text, at: path)
        } catch {
            damage.append("\(BytePath(bytes: path)), which shows a page, cannot be read: \(error.reason)")
            return []
        }
    }

    private mutating func consume(_ picture: [UInt8], _ places: [[UInt8]: Int]) {
        if places[picture] != nil {
            pictures.append(picture)
        } else if PageRules.refusal(picture) == nil, PageRules.skip(picture) == nil {
            damage.append("the page \(BytePath(bytes: picture)) is missing")
        }
    }
}

extension EpubOrder {
    /// A report's pages in this order; what the spine does not show is passed over.
    func apply(to verdict: Verdict, mode: ValidationMode, _ path: BytePath) -> Verdict {
        if isEncrypted { return .refused(reason: .encrypted, message: "\(path): \(Self.encryptedMessage)") }
        guard case .accepted(var report) = verdict else { return verdict }
        if mode == .strict, let first = damage.first {
            let text = "\(path): \(first); fetch the file again, or import it leniently"
            return .refused(reason: .damagedArchive, message: text)
        }
        report.format = .epub
        report.damage += damage
        guard !pictures.isEmpty else { return .accepted(report) }
        let known = Dictionary(report.pages.map { ($0.entry.id, $0) }, uniquingKeysWith: { first, _ in first })
        let ordered = pictures.compactMap { known[ContentHash(of: $0).description] }
        guard !ordered.isEmpty else { return .accepted(report) }
        let shown = Set(ordered.map(\.entry.id))
        report.skipped += report.pages.filter { !shown.contains($0.entry.id) }.map {
            SkippedEntry(path: BytePath(bytes: BytePath.unescape($0.entry.path)), reason: .notInSpine)
        }
        report.pages = ordered.enumerated().map { index, page in
            var page = page
            page.entry = page.entry.at(index)
            return page
        }
        return .accepted(report)
    }

    /// Headers of pages in this order; those that it does not name are left out.
    func apply(to pages: [EntryHeader]) -> [EntryHeader]? {
        let known = Dictionary(pages.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        let ordered = pictures.compactMap { known[$0] }
        return ordered.isEmpty ? nil : ordered
    }
}
