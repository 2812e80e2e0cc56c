import Platform

/// Reads the metadata files in archives.
package enum MetadataFile: String, Sendable, CaseIterable {
    case comicInfo = "ComicInfo.xml"
    case metronInfo = "MetronInfo.xml"

    /// Bytes; a larger file is refused.
    package static let sizeLimit = XMLTree.sizeLimit

    /// Picks the metadata file among an archive's entries: the one nearest to the root, the first of several.
    ///
    /// - Parameter paths: of all entries, in the archive's order.
    /// - Returns: its index, and those of the ignored others, for a message; nil if there is none.
    package func choose(among paths: [[UInt8]]) -> (index: Int, ignored: [Int])? {
        let found = paths.indices.filter { index in
            let parts = paths[index].split(separator: UInt8(ascii: "/"))
            guard let name = parts.last, !parts.contains(where: { $0.starts(with: "__MACOSX".utf8) }) else {
                return false
            }
            return String(decoding: name, as: UTF8.self).lowercased() == rawValue.lowercased()
        }
        let depths = found.map { index in
            paths[index].split(separator: UInt8(ascii: "/")).count { !$0.elementsEqual(".".utf8) }
        }
        guard let least = depths.min(), let place = depths.firstIndex(of: least) else { return nil }
        return (found[place], found.filter { $0 != found[place] })
    }

    /// Parses the file.
    ///
    /// - Throws: `Fault(.refused)` with the reason; the comic can be accepted without it.
    package func parse(_ bytes: [UInt8]) throws -> ComicMetadata {
        let root: XMLTree
        do {
            root = try XMLTree.parse(bytes)
        } catch {
            throw Fault(.refused, "\(rawValue) is not used: \(error.reason)")
        }
        switch (self, root.name) {
        case (.comicInfo, "ComicInfo"): return ComicMetadata(comicInfo: root)
        case (.metronInfo, "MetronInfo"): return ComicMetadata(metronInfo: root)
        default:
            throw Fault(.refused, "\(rawValue) is not used: it is a `\(BytePath.escape(root.name.prefix(40).utf8))`")
        }
    }
}

extension ComicMetadata {
    /// Reads ComicInfo 1.0 to 2.1; its "unknown" value, -1, counts as missing.
    init(comicInfo root: XMLTree) {
        self.init()
        func list(_ name: String) -> [String] {
            (root.value(name) ?? "").split(separator: ",").map { trimmed($0) }.filter { !$0.isEmpty }
        }
        title = root.value("Title")
        series = root.value("Series")
        number = root.value("Number").map(ComicName.withoutZeros)
        count = positive(root.value("Count"))
        volume = positive(root.value("Volume"))
        year = positive(root.value("Year"))
        month = positive(root.value("Month")).flatMap { (1...12).contains($0) ? $0 : nil }
        day = positive(root.value("Day")).flatMap { (1...31).contains($0) ? $0 : nil }
        publisher = root.value("Publisher")
        imprint = root.value("Imprint")
        summary = root.value("Summary")
        language = root.value("LanguageISO")
        ageRating = root.value("AgeRating").flatMap { $0 == "Unknown" ? nil : $0 }
        web = root.value("Web")
        gtin = root.value("GTIN")
        let roles = [
            "Writer", "Penciller", "Inker", "Colorist", "Letterer", "CoverArtist", "Editor", "Translator",
        ]
        credits = roles.flatMap { role in list(role).map { ComicCredit(name: $0, role: role) } }
        genres = list("Genre")
        tags = list("Tags")
        characters = list("Characters")
        storyArcs = list("StoryArc")
        switch root.value("Manga") {
        case "Yes": isManga = true
        case "YesAndRightToLeft": (isManga, isRightToLeft) = (true, true)
        case "No": isManga = false
        default: break
        }
        pageCount = positive(root.value("PageCount"))
        pages = (root.first("Pages")?.all("Page") ?? []).prefix(10_000).compactMap { page in
            guard let image = page.attributes["Image"].flatMap({ Int($0) }), image >= 0 else { return nil }
            let doublePage = page.attributes["DoublePage"].map { ["true", "1"].contains($0.lowercased()) }
            let kind = page.attributes["Type"].flatMap { ComicPageInfo.Kind(rawValue: trimmed($0)) } ?? .story
            return ComicPageInfo(image: image, type: kind, doublePage: doublePage)
        }
    }

    /// Reads MetronInfo 1.0.
    init(metronInfo root: XMLTree) {
        self.init()
        func list(_ name: String, of item: String) -> [String] {
            (root.first(name)?.all(item) ?? []).map(\.text).filter { !$0.isEmpty }
        }
        let ofSeries = root.first("Series")
        series = ofSeries?.value("Name")
        volume = positive(ofSeries?.value("Volume"))
        count = positive(ofSeries?.value("IssueCount"))
        language = ofSeries?.attributes["lang"]
        number = root.value("Number").map(ComicName.withoutZeros)
        let stories = list("Stories", of: "Story")
        title = root.value("CollectionTitle") ?? (stories.isEmpty ? nil : stories.joined(separator: "; "))
        summary = root.value("Summary")
        publisher = root.first("Publisher")?.value("Name")
        imprint = root.first("Publisher")?.value("Imprint")
        let date = (root.value("CoverDate") ?? root.value("StoreDate") ?? "").split(separator: "-").map { Int($0) }
        if date.count == 3, case (let year?, let month?, let day?) = (date[0], date[1], date[2]),
            (1...12).contains(month), (1...31).contains(day)
        {
            (self.year, self.month, self.day) = (year, month, day)
        }
        ageRating = root.value("AgeRating").flatMap { $0 == "Unknown" ? nil : $0 }
        web = root.first("URLs")?.value("Primary") ?? root.first("URLs")?.value("URL")
        gtin = root.first("GTIN")?.value("ISBN") ?? root.first("GTIN")?.value("UPC")
        credits = (root.first("Credits")?.all("Credit") ?? []).flatMap { credit -> [ComicCredit] in
            guard let name = credit.value("Creator") else { return [] }
            return (credit.first("Roles")?.all("Role") ?? []).map { role in
                ComicCredit(name: name, role: role.text == "Cover" ? "CoverArtist" : role.text)
            }
        }
        genres = list("Genres", of: "Genre")
        tags = list("Tags", of: "Tag")
        characters = list("Characters", of: "Character")
        storyArcs = (root.first("Arcs")?.all("Arc") ?? []).compactMap { $0.value("Name") }
        isManga = ofSeries?.value("Format").flatMap { $0.lowercased() == "manga" ? true : nil }
        pageCount = positive(root.value("PageCount"))
    }
}

private func positive(_ text: String?) -> Int? {
    guard let text, let number = Int(text), number > 0 else { return nil }
    return number
}
