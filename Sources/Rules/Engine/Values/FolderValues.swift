import Platform

/// The values of folders, in rules with `match: folders`.
extension BuiltInValues {
    package static let folder: [ValueSpec] = [
        ValueSpec("folder.name", "The folder's name: `Lisbon 2024`."),
        ValueSpec("folder.path", "The path below the place: `albums/Lisbon 2024`."),
        ValueSpec("folder.parent", "The folder above, below the place; empty for the place itself: `albums`."),
        ValueSpec("folder.place", "The name of the place: `pictures`."),
        ValueSpec("folder.count", "The number of files in it, at any depth, except hidden ones."),
        ValueSpec("folder.size", "Bytes of these."),
        ValueSpec("folder.earliest", "When the first of these was last changed; a date, empty where there are none."),
        ValueSpec("folder.latest", "When the last of these was changed; a date, empty where there are none."),
    ]

    static func folderValues(of facts: FileFacts, _ folder: FolderContents) -> Values {
        var values: Values = [
            "folder.name": .text(facts.path.nameText), "folder.path": .text(facts.path.text),
            "folder.parent": .text(facts.path.parent.text), "folder.place": .text(facts.place.name),
            "folder.count": .integer(folder.shown.count), "folder.size": .integer(Int(folder.size)),
            "event": .text(facts.event.rawValue),
        ]
        if let dates = folder.dates {
            values["folder.earliest"] = .date(Timestamp(nanoseconds: dates.earliest))
            values["folder.latest"] = .date(Timestamp(nanoseconds: dates.latest))
        }
        return values
    }
}
