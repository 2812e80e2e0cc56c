/// Metadata of a comic, from any source.
package struct ComicMetadata: Sendable, Equatable, Codable {
    package var title: String?
    package var series: String?
    /// As text, because `½`, `78.BEY` and `1.MU` are valid; leading zeros are dropped.
    package var number: String?
    /// The number of issues in the series.
    package var count: Int?
    package var volume: Int?
    package var year: Int?
    /// 1...12.
    package var month: Int?
    /// 1...31.
    package var day: Int?
    package var publisher: String?
    package var imprint: String?
    package var summary: String?
    package var language: String?
    package var ageRating: String?
    package var web: String?
    package var gtin: String?
    package var credits: [ComicCredit] = []
    package var genres: [String] = []
    package var tags: [String] = []
    package var characters: [String] = []
    package var storyArcs: [String] = []
    package var isManga: Bool?
    package var isRightToLeft: Bool?
    package var pageCount: Int?
    package var pages: [ComicPageInfo] = []

    package init() {}

    /// All people with that role, case-insensitive, in the order given.
    package func creators(_ role: String) -> [String] {
        credits.filter { $0.role.lowercased() == role.lowercased() }.map(\.name)
    }

    package var writers: [String] { creators("Writer") }

    /// Fills missing fields from `lower`.
    package func filled(from lower: ComicMetadata) -> ComicMetadata {
        var all = self
        all.title = title ?? lower.title
        all.series = series ?? lower.series
        all.number = number ?? lower.number
        all.count = count ?? lower.count
        all.volume = volume ?? lower.volume
        // A year from one source and a month from another would make a date that neither gives.
        if year == nil {
            (all.year, all.month, all.day) = (lower.year, month ?? lower.month, day ?? lower.day)
        } else if month == nil, lower.year == year {
            (all.month, all.day) = (lower.month, lower.day)
        }
        all.publisher = publisher ?? lower.publisher
        all.imprint = imprint ?? lower.imprint
        all.summary = summary ?? lower.summary
        all.language = language ?? lower.language
        all.ageRating = ageRating ?? lower.ageRating
        all.web = web ?? lower.web
        all.gtin = gtin ?? lower.gtin
        all.credits = credits.isEmpty ? lower.credits : credits
        all.genres = genres.isEmpty ? lower.genres : genres
        all.tags = tags.isEmpty ? lower.tags : tags
        all.characters = characters.isEmpty ? lower.characters : characters
        all.storyArcs = storyArcs.isEmpty ? lower.storyArcs : storyArcs
        all.isManga = isManga ?? lower.isManga
        all.isRightToLeft = isRightToLeft ?? lower.isRightToLeft
        all.pageCount = pageCount ?? lower.pageCount
        all.pages = pages.isEmpty ? lower.pages : pages
        return all
    }
}

/// A person and a role.
package struct ComicCredit: Sendable, Hashable, Codable {
    package let name: String
    /// As in ComicInfo (Writer, Penciller, Inker, Colorist, Letterer, CoverArtist, Editor, Translator), or another.
    package let role: String

    package init(name: String, role: String) {
        self.name = name
        self.role = role
    }
}

/// ComicInfo's data about one page.
package struct ComicPageInfo: Sendable, Equatable, Codable {
    package enum Kind: String, Sendable, Codable, CaseIterable {
        case frontCover = "FrontCover"
        case innerCover = "InnerCover"
        case roundup = "Roundup"
        case story = "Story"
        case advertisement = "Advertisement"
        case editorial = "Editorial"
        case letters = "Letters"
        case preview = "Preview"
        case backCover = "BackCover"
        case other = "Other"
        case deleted = "Deleted"
    }

    /// The page's index in reading order, from 0.
    package let image: Int
    package let type: Kind
    /// nil if unspecified.
    package let doublePage: Bool?

    package init(image: Int, type: Kind = .story, doublePage: Bool? = nil) {
        self.image = image
        self.type = type
        self.doublePage = doublePage
    }
}
