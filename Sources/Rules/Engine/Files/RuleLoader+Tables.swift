import Platform

/// The key `values`.
extension RuleLoader {
    private static let endings = [".csv", ".tsv"]

    /// The rule's tables by name without extension; nil if one of them cannot be used. Empty if tables are not read,
    /// as in an editor.
    func tables(_ node: YamlNode) -> [String: LookupTable]? {
        guard let names = reader.texts(node, "`values`") else { return nil }
        var tables: [String: LookupTable] = [:]
        var seen: Set<String> = []
        var isGood = true
        for (item, name) in zip(reader.oneOrMore(node), names) {
            guard let stem = Self.stem(name) else {
                reader.report(
                    item.position, "`values` names a table beside this file, not `\(printable(name))`",
                    hint: "as in `values: customers.csv`; a name has letters, digits, `-` and `_`, and ends in "
                        + Self.endings.map { "`\($0)`" }.joined(separator: " or "))
                isGood = false
                continue
            }
            guard seen.insert(stem).inserted else {
                reader.report(item.position, "two tables are called `\(stem)`", hint: "rename one of them")
                isGood = false
                continue
            }
            guard let tableFolder else { continue }
            do {
                let table = try tableFolder.shelf.table(tableFolder.folder.appending(name: Array(name.utf8)))
                tables[stem] = table
                if table == nil { isGood = false }
            } catch {
                reader.report(
                    item.position, "the table `\(name)` cannot be read: \(explain(error))",
                    hint: "it must be beside this file")
                isGood = false
            }
        }
        return isGood ? tables : nil
    }

    /// `customers` for `customers.csv`; nil if this is not the name of a file in the same folder.
    private static func stem(_ name: String) -> String? {
        guard let ending = endings.first(where: name.hasSuffix) else { return nil }
        let stem = String(name.dropLast(ending.count))
        let isWord = stem.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || "-_".unicodeScalars.contains($0)
        }
        return stem.isEmpty || !isWord ? nil : stem
    }
}
