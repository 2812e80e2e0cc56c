import Foundation

/// A rule that searches for phrases; the schema of `quick/<rule>.json`.
struct PhraseRule: Decodable, Sendable {
    var id: String
    var title: String
    /// The language of its phrases: `en`. Passages in another one are skipped.
    var language: String
    var category: String
    var type: SuggestionType
    /// As in ``Suggestion/priority``.
    var priority: Int
    var confidence: Double
    /// The message for the writer, with `{quote}`, `{word}` (the phrase alone) and `{replacement}` filled in.
    var message: String
    /// Replaces ``message`` if the phrase should be removed.
    var removal: String?
    /// The finding covers the phrase and the word after it, and its replacement is that word alone.
    var dropsWord: Bool?
    /// The words express degree: under a negation, removing them changes the meaning.
    var tellsDegree: Bool?
    /// They may belong to a writer's voice: in a story they are reported only if they crowd.
    var crowds: Bool?
    /// Those of ``phrases`` that count only if no word follows directly: “as it were”.
    var apart: [String]?
    /// Those of ``phrases`` that count only before a content word: elsewhere “literally” describes manner.
    var leading: [String]?
    /// Those of ``phrases`` that count only after an article or “be”: before a verb, “really” means “in truth”.
    var describing: [String]?
    /// Those of ``phrases`` that are findings only where the words around them allow the replacement.
    var frames: [Frame: [String]]?
    /// Longer phrases that are fine although they contain one of ``phrases``.
    var allow: [String]?
    /// Lower-case phrases with their replacements: empty for a removal, null for general advice.
    var phrases: [String: String?]
}

/// The schema of `quick/passive.json`, for English.
struct PassiveWords: Decodable, Sendable {
    /// Participles that do not end in -ed.
    var irregular: [String]
    /// Words in -ed that are not participles, or that describe a state.
    var notParticiples: [String]
    /// Words after “by” that do not start an agent: “by default”.
    var notAgents: [String]
    /// Adverbs that may separate the verb from its participle.
    var adverbs: [String]
    /// Participles that mostly describe a state; they do not count towards the density.
    var statives: [String]
    /// Participles whose passive with “by” is common usage and is not flagged: “followed by”.
    var idiomatic: [String]
    /// The density is not reported for a draft with fewer passives.
    var minimumPassives: Int
    /// Passives per sentence from which the density is reported.
    var densityPerSentence: Double
}

/// The words of one language in `quick/repeated.json`; in other languages, repetitions are not reported.
struct RepeatedWords: Decodable, Sendable {
    /// Words that may legitimately occur twice: “had had”, “bye bye”, « vous vous ».
    var allowed: [String]
    /// Function words; twice in a row they are always a slip.
    var function: [String]
}
