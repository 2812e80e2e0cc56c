import CHunspell
import Glibc
import Platform
import Synchronization

/// A Hunspell dictionary in memory. Drafts share it: libhunspell serves one thread at a time, so its calls take turns.
final class SpellingDictionary: WordChecker {
    private struct State {
        let speller: OpaquePointer
        /// Nil for UTF-8.
        let encoding: DictionaryEncoding?
        /// Known proposals: finding them takes milliseconds each.
        var proposals: [String: [String]] = [:]
    }

    private let state: Mutex<State>

    /// Longer words are not checked: they are data, and a search for proposals takes time that grows with the length.
    private static let longest = 64
    /// The number of words whose proposals are kept.
    private static let keptProposals = 1000

    /// Loads a dictionary of some megabytes. Blocks.
    ///
    /// - Throws: `Fault` if it cannot be read, or has an encoding that this system does not know.
    init(affixes: BytePath, words: BytePath) throws {
        Blocking.call()
        let opened = affixes.withCString { affixes in words.withCString { steward_speller_open(affixes, $0) } }
        guard let opened else { throw Fault(.failed, "the dictionary \(words) cannot be opened", path: words) }
        let name = steward_speller_encoding(opened).map { String(cString: $0) } ?? "ISO8859-1"
        let encoding = name == "UTF-8" ? nil : DictionaryEncoding(name)
        if encoding == nil, name != "UTF-8" {
            steward_speller_close(opened)
            throw Fault(.failed, "the dictionary \(words) is encoded in \(name), which is not known", path: words)
        }
        state = Mutex(State(speller: opened, encoding: encoding))
    }

    deinit { state.withLock { steward_speller_close($0.speller) } }

    /// A word that the dictionary's encoding cannot express counts as correct: it is of another language.
    func isCorrect(_ word: String) -> Bool {
        guard word.unicodeScalars.count <= Self.longest else { return true }
        return state.withLock { state in
            guard let bytes = Self.bytes(word, state.encoding) else { return true }
            return steward_speller_knows(state.speller, bytes)
        }
    }

    func proposals(_ word: String) -> [String] {
        guard word.unicodeScalars.count <= Self.longest else { return [] }
        return state.withLock { state in
            if let known = state.proposals[word] { return known }
            guard let bytes = Self.bytes(word, state.encoding) else { return [] }
            var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
            let count = steward_speller_propose(state.speller, bytes, &list)
            defer { steward_speller_free(state.speller, &list, count) }
            let found = (0..<max(0, Int(count))).compactMap { index -> String? in
                guard let word = list?[index] else { return nil }
                return state.encoding.map { $0.decode(word) } ?? String(validatingCString: word)
            }
            if state.proposals.count == Self.keptProposals { state.proposals = [:] }
            state.proposals[word] = found
            return found
        }
    }

    /// The word in the dictionary's encoding, with a final NUL.
    private static func bytes(_ word: String, _ encoding: DictionaryEncoding?) -> [CChar]? {
        guard let encoding else { return Array(word.utf8CString) }
        return encoding.encode(word)
    }
}

/// Converts between UTF-8 and the encoding of a dictionary, by the C library.
final class DictionaryEncoding {
    private let encoder: iconv_t
    private let decoder: iconv_t

    /// - Parameter name: as in the line `SET` of a .aff file: `ISO8859-1`, `KOI8-R`, `microsoft-cp1251`.
    /// - Returns: nil if the C library does not know it.
    init?(_ name: String) {
        let name = name.hasPrefix("microsoft-") ? String(name.dropFirst("microsoft-".count)) : name
        guard let encoder = Self.open(to: name, from: "UTF-8") else { return nil }
        guard let decoder = Self.open(to: "UTF-8", from: name) else {
            iconv_close(encoder)
            return nil
        }
        (self.encoder, self.decoder) = (encoder, decoder)
    }

    deinit {
        iconv_close(encoder)
        iconv_close(decoder)
    }

    /// The encoded word with a final NUL; nil if the encoding lacks one of its letters.
    func encode(_ word: String) -> [CChar]? {
        Self.convert(encoder, word.utf8.map { CChar(bitPattern: $0) })
    }

    /// Nil if the bytes are not valid.
    func decode(_ word: UnsafePointer<CChar>) -> String? {
        Self.convert(decoder, Array(UnsafeBufferPointer(start: word, count: strlen(word))))
            .flatMap { String(validating: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    }

    private static func open(to: String, from: String) -> iconv_t? {
        let opened = iconv_open(to, from)
        return Int(bitPattern: opened) == -1 ? nil : opened
    }

    private static func convert(_ converter: iconv_t, _ bytes: [CChar]) -> [CChar]? {
        var input = bytes
        var output = [CChar](repeating: 0, count: bytes.count * 4 + 1)
        let room = output.count
        let left: Int? = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                var (source, sourceLeft) = (input.baseAddress, input.count)
                var (target, targetLeft) = (output.baseAddress, room - 1)
                return iconv(converter, &source, &sourceLeft, &target, &targetLeft) == 0 ? targetLeft : nil
            }
        }
        return left.map { Array(output.prefix(room - $0)) }
    }
}
