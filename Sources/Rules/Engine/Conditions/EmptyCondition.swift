import Platform

/// The condition that a file is empty.
extension ConditionSpec {
    static let emptyCondition = ConditionSpec(
        "empty",
        "Whether the file has no bytes: `true` or `false`. `blank` also holds for a text of nothing but white space, as long "
            + "as it has no more than a mebibyte. A folder is empty that holds nothing but empty folders "
            + "and what systems leave in them, such as `.DS_Store`; a repository (`.git`) is something.",
        example: "empty: true", schema: ["enum": [true, false, "blank"]], takes: .both
    ) { node, context in
        if node.scalar == "blank" {
            return Loaded { facts, _ in
                if let folder = try facts.folder() { return observed(folder, wanted: true) }
                guard let size = facts.status?.size else { return Observation(false, seen: "the file is gone") }
                if size == 0 { return Observation(true, seen: "0 bytes") }
                guard size <= FileFacts.textLimit else { return Observation(false, seen: "\(size) bytes") }
                guard let text = try facts.text() else {
                    return Observation(false, seen: "\(size) bytes that are no text")
                }
                let isBlank = text.allSatisfy { $0.isWhitespace || $0 == "\u{FEFF}" }
                return Observation(isBlank, seen: "\(size) bytes of \(isBlank ? "white space" : "text")")
            }
        }
        guard let wanted = context.reader.boolean(node, "`empty`") else { return nil }
        return Loaded { facts, _ in
            if let folder = try facts.folder() { return observed(folder, wanted: wanted) }
            guard let size = facts.status?.size else { return Observation(false, seen: "the file is gone") }
            return Observation((size == 0) == wanted, seen: "\(size) bytes")
        }
    }

    private static func observed(_ folder: FolderContents, wanted: Bool) -> Observation {
        let seen = folder.isBare ? "nothing in it" : folder.files.first.map { "holds \($0.path)" } ?? "holds no files"
        return Observation(folder.isBare == wanted, seen: seen)
    }
}
