/// Whether one word is most likely a slip for another, and not a term that resembles it, such as `mtime` and `mime`.
///
/// A slip is two letters that changed places, a letter doubled or not, a vowel instead of another or beside one; and in
/// a long word any one letter. It spares the first letter. A word with one more `s` or `d` at its end is another form of
/// the same, which a dictionary may lack. Both words are in lower case.
func isSlip(_ word: String, for other: String) -> Bool {
    let length = word.prefix { $0 != "'" }.count
    let word = Array(word.unicodeScalars)
    let other = Array(other.unicodeScalars)
    guard abs(word.count - other.count) <= 1, word != other, !other.contains(" ") else { return false }
    let start = zip(word, other).prefix { $0 == $1 }.count
    if start == other.count, let ending = word.last, "sd".unicodeScalars.contains(ending), ending != other.last {
        return false
    }
    let shorter = min(word.count, other.count) - start
    let end = zip(word.reversed(), other.reversed()).prefix(shorter).prefix { $0 == $1 }.count
    let one = word[start..<(word.count - end)]
    let two = other[start..<(other.count - end)]
    if one.count == 2, one.reversed().elementsEqual(two) {
        return word.contains(where: isVowel) && (start > 0 || length >= 5)
    }
    guard one.count <= 1, two.count <= 1, start > 0 else { return false }
    if length >= 8 { return true }
    if let letter = one.first, let expected = two.first { return isVowel(letter) && isVowel(expected) }
    let longer = word.count > other.count ? word : other
    let letter = longer[start]
    let neighbours = [start - 1, start + 1].filter { longer.indices.contains($0) }.map { longer[$0] }
    return neighbours.contains { $0 == letter || isVowel($0) && isVowel(letter) }
}

private func isVowel(_ letter: Unicode.Scalar) -> Bool {
    "aeiouyàáâãäåæèéêëìíîïòóôõöøùúûü".unicodeScalars.contains(letter)
}
