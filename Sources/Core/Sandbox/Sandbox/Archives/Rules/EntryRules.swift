import Platform

/// The role of an entry, by its header's name and kind.
package enum EntryRole: Sendable, Equatable {
    case page
    /// ComicInfo.xml or MetronInfo.xml.
    case metadata
    case skipped(SkipReason)
    case refused(RefusalReason, String)

    /// For people, after the archive's name.
    package static func refusal(_ name: BytePath, _ what: String) -> String {
        "its entry \(name) \(what); it was packed with bad intent or by a broken program"
    }

    /// Applies ``PageRules``: in the worker to decide what to read, and in the agent to decide what to believe.
    package init(of header: EntryHeader) {
        if header.kind == .unreadable {
            self = .skipped(.special)
            return
        }
        if let refusal = PageRules.refusal(header.path) {
            let reason: RefusalReason =
                switch refusal {
                case .traversal: .traversal
                case .absolute, .driveLetter: .absolutePath
                case .backslash, .empty, .nul: .badName
                }
            self = .refused(reason, refusal.reason)
            return
        }
        if header.path.count > ArchiveLimits.maxNameLength {
            self = .refused(.badName, "has a name of more than \(ArchiveLimits.maxNameLength) bytes")
            return
        }
        switch (header.kind, PageRules.skip(header.path)) {
        case (.folder, _): self = .skipped(.folder)
        case (.link, _): self = .skipped(.link)
        case (.other, _), (.unreadable, _): self = .skipped(.special)
        case (.file, nil): self = .page
        case (.file, .systemFolder?): self = .skipped(.systemFolder)
        case (.file, .hidden?): self = .skipped(.hidden)
        case (.file, .underscore?): self = .skipped(.underscore)
        case (.file, .notAPicture?):
            let name = BytePath(bytes: header.path).nameText.lowercased()
            self = name == "comicinfo.xml" || name == "metroninfo.xml" ? .metadata : .skipped(.notAPicture)
        }
    }
}

/// Why an entry is no page, in an archive that is accepted.
package enum SkipReason: String, Sendable, Codable {
    case folder, link, special, hidden, systemFolder, underscore, notAPicture, oversize, duplicateName
    /// A picture of an EPUB that is not in its spine.
    case notInSpine
}
