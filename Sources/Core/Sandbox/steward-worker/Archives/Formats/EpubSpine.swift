import Platform
import Sandbox

/// Finds the pages of an EPUB from its spine, with a parser that resolves nothing.
extension EpubOrder {
    /// Bytes of all documents of the spine; in comics each has about a kilobyte.
    private static let limit = 8 << 20

    /// - Parameters:
    ///   - headers: of the whole archive.
    ///   - read: reads entries by position, up to a total number of bytes; leaves out damaged ones.
    /// - Returns: nil if it is no EPUB.
    static func read(_ headers: [EntryHeader], _ read: ([Int], Int) throws -> [Int: [UInt8]]) throws -> EpubOrder? {
        // An entry that claims too much is no page under its name.
        let files = headers.filter { $0.kind == .file && !$0.claimsTooMuch }
        let places = Dictionary(files.map { ($0.path, $0.position) }, uniquingKeysWith: { first, _ in first })
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
        // Each document once: a picture is a page only at its first occurrence.
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
        if let place = places[picture] {
            pages.append(place)
        } else if PageRules.refusal(picture) == nil, PageRules.skip(picture) == nil {
            damage.append("the page \(BytePath(bytes: picture)) is missing")
        }
    }
}
