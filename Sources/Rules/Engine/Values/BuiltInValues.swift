import Platform

/// The values available to templates, for the loader and the manual.
package enum BuiltInValues {
    package static let file: [ValueSpec] = [
        ValueSpec("file.name", "The file's name: `Saga 01.cbz`."),
        ValueSpec("file.stem", "The name without its extension: `Saga 01`."),
        ValueSpec("file.extension", "The extension, lower-case, without the dot: `cbz`."),
        ValueSpec("file.oldName", "The name before, for a file that was renamed; else empty."),
        ValueSpec("file.path", "The path below the place: `Saga/Saga 01.cbz`."),
        ValueSpec("file.folder", "The folder below the place, empty for the place itself: `Saga`."),
        ValueSpec("file.place", "The name of the place: `comics`."),
        ValueSpec("file.size", "Bytes."),
        ValueSpec("file.kind", "What the content is: note, text, link, image, comic, pdf, archive or other."),
        ValueSpec("file.mime", "The content's MIME type: `image/png`."),
        ValueSpec("file.hash", "The content's SHA-256 in hexadecimal."),
        ValueSpec("file.modified", "When the content was last changed; a date."),
        ValueSpec("file.created", "When the file was made, where its file system says so; a date."),
        ValueSpec("file.accessed", "When it was last read, as far as its file system keeps that; a date."),
        ValueSpec("file.text", "The first 4 KiB of a text or note; empty for anything else."),
        ValueSpec("file.title", "A text's first level-1 heading, else its first line that is not empty."),
    ]

    package static let job: [ValueSpec] = [
        ValueSpec(
            "event", "What happened: arrived, changed, renamed or removed; scheduled for a time of the rule's own."),
        ValueSpec("rule", "The rule's name."),
        ValueSpec("job.id", "The job's id, the same after every restart."),
        ValueSpec("arrived", "When the file settled; a date."),
        ValueSpec("host", "This machine's short name."),
    ]

    /// Only in rules with the condition `anchor`.
    package static let block: [ValueSpec] = [
        ValueSpec("block.prefix", "The anchor's prefix: `jrnl`."),
        ValueSpec("block.time", "The anchor's time: `0930`."),
        ValueSpec("block.text", "The block's text."),
        ValueSpec("block.heading", "The heading above the block."),
        ValueSpec("block.token", "The whole anchor: `^jrnl-0930`."),
    ]

    /// Prefix of the values from a note's front matter.
    package static let frontPrefix = "front."
    package static let front = ValueSpec(
        "front.<key>", "A value of the note's front matter, by its key; empty where it has none.")

    /// Fixed when a job is planned (``PlannedValues``).
    package static let planned: [ValueSpec] = [
        ValueSpec(
            "counter:<name>",
            "The next number of a counter, from 1 on: each job has one of its own, which all its steps see and no other job "
                + "ever gets. `counter:invoices@%Y` begins anew each year, by the letters of `date` and the day of arrival. "
                + "A job that comes to nothing, or is undone, leaves a gap. `steward counters` shows and sets them."),
        ValueSpec(
            "lookup:<table>.<column>[<value>]",
            "What a table of `values` holds in the row whose key is what the value holds: "
                + "`lookup:customers.email[match.id]`; nothing where there is no such row. It is looked up when the file "
                + "arrives, so the key is a value of the file or of a condition."),
    ]

    /// Only in the steps of `for-each`.
    package static let items: [ValueSpec] = RepeatedItems.allCases.flatMap(\.values)

    package static let all: [ValueSpec] = file + inside + folder + job + block + [front] + planned + items

    /// The values among `names` (nil: all) that come from the file. Blocks: reads what they need.
    ///
    /// - Throws: `Fault` if the file cannot be read.
    package static func values(of facts: FileFacts, names: Set<String>? = nil) throws -> Values {
        func wants(_ name: String) -> Bool { names?.contains(name) ?? true }
        if let folder = try facts.folder() { return folderValues(of: facts, folder) }
        var values: Values = [:]
        let (stem, suffix) = facts.path.stemAndExtension
        if wants("file.name") { values["file.name"] = .text(facts.path.nameText) }
        // The planner sets the old name of a renamed file.
        if wants("file.oldName") { values["file.oldName"] = .text("") }
        if wants("file.stem") { values["file.stem"] = .text(String(decoding: stem, as: UTF8.self)) }
        if wants("file.extension") {
            values["file.extension"] = .text(String(decoding: suffix ?? [], as: UTF8.self).lowercased())
        }
        if wants("file.path") { values["file.path"] = .text(facts.path.text) }
        if wants("file.folder") { values["file.folder"] = .text(facts.path.parent.text) }
        if wants("file.place") { values["file.place"] = .text(facts.place.name) }
        if wants("event") { values["event"] = .text(facts.event.rawValue) }
        if let status = facts.status {
            if wants("file.size") { values["file.size"] = .integer(Int(status.size)) }
            if wants("file.modified") {
                values["file.modified"] = .date(Timestamp(nanoseconds: status.fingerprint.modified))
            }
            if wants("file.accessed") { values["file.accessed"] = .date(Timestamp(nanoseconds: status.accessed)) }
            if wants("file.created"), let born = try facts.birth() { values["file.created"] = .date(born) }
        }
        if wants("file.kind") { values["file.kind"] = .text(try facts.kind().kind.rawValue) }
        if wants("file.mime") { values["file.mime"] = .text(try facts.kind().mime) }
        if wants("file.hash"), let hash = try facts.contentHash() { values["file.hash"] = .text(hash.description) }
        if wants("file.text"), let text = try facts.opening() { values["file.text"] = .text(text) }
        if wants("file.title"), let text = try facts.beginningOfBody() { values["file.title"] = .text(title(text)) }
        values.merge(try insideValues(of: facts, names: names ?? [])) { $1 }
        if names?.contains(where: { $0.hasPrefix(frontPrefix) }) ?? true {
            for (key, value) in try facts.frontMatter()?.values ?? [:] where wants(frontPrefix + key) {
                values[frontPrefix + key] = value
            }
        }
        return values
    }

    /// The values of the job itself.
    package static func values(
        rule: String, jobID: String, event: FileEvent, arrival: Timestamp, host: String, block: BlockFacts? = nil
    ) -> Values {
        var values: Values = [
            "rule": .text(rule), "job.id": .text(jobID), "event": .text(event.rawValue), "arrived": .date(arrival),
            "host": .text(host),
        ]
        if let block { values.merge(block.values) { $1 } }
        return values
    }

    private static func title(_ text: String) -> String {
        let lines = FrontMatter.body(of: text).split(whereSeparator: \.isNewline).map { String($0).trimmedSpaces }
        if let heading = lines.first(where: { $0.hasPrefix("# ") }) {
            return String(heading.dropFirst(2)).trimmedSpaces
        }
        return String((lines.first { !$0.isEmpty } ?? "").prefix(200))
    }
}
