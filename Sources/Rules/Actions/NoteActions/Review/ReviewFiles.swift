import Platform

/// Paths of a draft's review: the sidecar beside it, for people, and the state below `.tk/reviews`, for the agent.
package struct ReviewFiles: Sendable, Equatable {
    /// Absolute.
    package let draft: BytePath

    package init(draft: BytePath) { self.draft = draft }

    /// `essay.review.md` for `essay.md`, `essay.txt.review.md` for `essay.txt`.
    package var sidecar: BytePath {
        let (stem, suffix) = draft.stemAndExtension
        let name = suffix == Self.markdown ? stem : draft.name
        return draft.parent.appending(name: name + Self.ending)
    }

    /// `.tk/reviews/essay.md.json`.
    package var state: BytePath { folder.appending(name: draft.name + Array(".json".utf8)) }

    /// `.tk/reviews/essay.md.quickfix`, for Vim's `:cfile`.
    package var quickfix: BytePath { folder.appending(name: draft.name + Array(".quickfix".utf8)) }

    /// `.tk/reviews/essay.md.sarif`.
    package var sarif: BytePath { folder.appending(name: draft.name + Array(".sarif".utf8)) }

    /// Path of the copy of a sidecar that a person has written into.
    package func kept(_ hash: ContentHash) -> BytePath {
        folder.appending(name: sidecar.stemAndExtension.stem + Array(".\(hash.description.prefix(8)).md".utf8))
    }

    /// Path of the copy of a state that another draft's has replaced. Not the name of any draft's state.
    package func replaced(_ hash: ContentHash) -> BytePath {
        folder.appending(name: state.name + Array(".\(hash.description.prefix(8))".utf8))
    }

    private var folder: BytePath { draft.parent.appending(".tk/reviews") }

    private static let markdown = Array("md".utf8)
    private static let ending = Array(".review.md".utf8)

    /// The drafts whose sidecar this could be, judging by name only.
    package static func drafts(ofSidecar path: BytePath) -> [BytePath] {
        let name = path.name
        guard name.count > ending.count, name.suffix(ending.count).elementsEqual(ending) else { return [] }
        let rest = Array(name.dropLast(ending.count))
        return [rest + Array(".md".utf8), rest].map { path.parent.appending(name: $0) }
            .filter { ReviewFiles(draft: $0).sidecar == path }
    }
}
