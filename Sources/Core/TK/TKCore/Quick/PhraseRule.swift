import Foundation

/// A rule that looks for phrases; the shape of `quick/<rule>.json`.
struct PhraseRule: Decodable, Sendable {
    var id: String
    var title: String
    /// The language that its phrases are of: `en`. Passages in another one are left alone.
    var language: String
    var category: String
    var type: SuggestionType
    /// As in ``Suggestion/priority``.
    var priority: Int
    var confidence: Double
    /// What the writer reads; `{quote}`, `{word}` (the phrase alone) and `{replacement}` are filled in.
    var message: String
    /// In place of ``message`` where the phrase is to go.
    var removal: String?
    /// The finding is the phrase and the word behind it, and its replacement that word alone.
    var dropsWord: Bool?
    /// The words say how much: under a negation the sentence says something else without them.
    var tellsDegree: Bool?
    /// A writer's voice may have them: in a story only where they crowd.
    var crowds: Bool?
    /// Those of ``phrases`` that are meant only where no word follows directly: “as it were”.
    var apart: [String]?
    /// Those of ``phrases`` that are meant only in front of a word with a meaning: “literally” elsewhere says how.
    var leading: [String]?
    /// Those of ``phrases`` that are meant only behind an article or “be”: “really” in front of a verb says what is true.
    var describing: [String]?
    /// Longer phrases that are fine although they hold one of ``phrases``.
    var allow: [String]?
    /// Lower-case phrases with what should stand there: empty where nothing should, null where the advice is general.
    var phrases: [String: String?]
}

/// The shape of `quick/passive.json`, of English.
struct PassiveWords: Decodable, Sendable {
    /// Participles that do not end in -ed.
    var irregular: [String]
    /// Words in -ed that are no participles, or that describe a state.
    var notParticiples: [String]
    /// Words behind “by” that start no agent: “by default”.
    var notAgents: [String]
    /// What may stand between the verb and its participle.
    var adverbs: [String]
    /// Participles that mostly describe a state; they do not count for the density.
    var statives: [String]
    /// Participles whose passive with “by” is the usual wording and is not flagged: “followed by”.
    var idiomatic: [String]
    /// A draft with fewer passives than this gets no word about its density.
    var minimumPassives: Int
    /// Passives a sentence from which on the density is worth a word.
    var densityPerSentence: Double
}

/// The words of one language in `quick/repeated.json`; in a language that is not there, nothing is said of repetitions.
struct RepeatedWords: Decodable, Sendable {
    /// Words that may well stand twice: “had had”, “bye bye”, « vous vous ».
    var allowed: [String]
    /// Words that hold sentences together; twice in a row they are always a slip.
    var function: [String]
}
