/// The patterns of ``NameReading``, built once: building them costs more than matching.
///
/// `@unchecked` because `Regex` is not `Sendable` if it holds closures of a custom parser; these are literals, which
/// hold none and never change.
struct ComicNamePatterns: @unchecked Sendable {
    static let shared = ComicNamePatterns()

    let bracketYear = /(?:.*[^0-9])?((?:19|20)[0-9]{2})(?:[-\/.]([0-9]{1,2}))?(?:[-\/.][0-9]{1,4})?/
    let bracketYears = /((?:19|20)[0-9]{2})\s*-\s*(?:(?:19|20)[0-9]{2})?/
    let bracketCount = /(?:([0-9]{1,4})\s+)?of\s+([0-9]{1,4})/
    let bracketNumber = /#\s*(-?[0-9½]+[^\s]*)/
    let bracketDigits = /[0-9]{1,3}/
    let bracketVolume = /(?:vol(?:ume)?\.?|v)\s*([0-9]{1,4})/
    let date = /((?:19|20)[0-9]{2})-([0-9]{2})-([0-9]{2})/
    let cjkVolume = /第\s*([0-9]{1,4})\s*[卷巻册冊集]/
    let cjkVolumeBefore = /[卷巻]\s*([0-9]{1,4})/
    let volumeWord = /(?i)(?:volume|vol|tome|том|band)\.?\s*([0-9]{1,4})/
    let volumeLetter = /(?i)[vt]\.?([0-9]{1,4})/
    let volumeRoman = /(?i)(?:volume|vol)\.?\s+([ivxlc]{1,7})/
    let cjkNumber = /第\s*([0-9]{1,5}(?:\.[0-9]+)?)\s*[话話回章]/
    let hash = /#\s*(-?(?:[0-9]+(?:\.[0-9]+)?[½¼¾]?|[½¼¾])(?:\.?[A-Za-z]{1,4}(?![A-Za-z0-9]))?)/
    let chapterWord = /(?i)(?:chapter|chap|ch|issue|глава|no|nr)\.?\s*([0-9]{1,5}(?:\.[0-9]+)?)/
    let chapterLetter = /(?i)c([0-9]{1,5}(?:\.[0-9]+)?)/
    let numberOf = /(?i)([0-9]{1,4})\s+of\s+([0-9]{1,4})/
    let bare = /-?(?:[0-9]{1,5}(?:\.[0-9]{1,2}|\.[A-Z]{2,4})?[½¼¾]?[a-z]?|[½¼¾])/
    let foreignNumber = /[0-9]{1,4} ([^ ]*_[^ ]*)/
    let dotBetweenWords = /([A-Za-z]{3})\.([A-Z][a-z]{2})/
    let monthAndYear =
        /(?i)(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}(?:-[a-z]{3,9})?\s+((?:19|20)[0-9]{2})/
    let titleAndPart = /(.*[^0-9 ])\s+([0-9]{1,3})/
    let yearAndStory = /(.* (?:19|20)[0-9]{2})\s+-\s+(.+)/
    let nameAndStory = /(.+):\s+(.+)/
    let numberAndDash = /\b(0[0-9]{1,3})\s+-\s+[^0-9]+[0-9]/
    let book = /(?i)\bbook\s*$/
}
