import Platform

extension ObjectReference {
    func encode(into encoder: inout RecordEncoder) {
        encoder.fixed(id.bytes)
        encoder.integer(kind.rawValue)
        encoder.integer(length)
        encoder.fixed(headerMAC)
        encoder.fixed(lastTag)
    }

    init(from decoder: inout RecordDecoder) throws {
        let id = try decoder.identifier("object", ObjectID.self)
        guard let kind = ObjectKind(rawValue: try decoder.integer("kind")) else {
            throw RecordDecoder.Mismatch(field: "kind")
        }
        self.init(
            id: id, kind: kind, length: try decoder.integer("length"), headerMAC: try decoder.fixed("header", 32),
            lastTag: try decoder.fixed("tag", AESGCM.tagSize))
    }
}

extension ComicSummary {
    func encode(into encoder: inout RecordEncoder) {
        encoder.text(title)
        encoder.text(series)
        encoder.text(number)
        encoder.integer(pages)
        encoder.text(format)
    }

    init(from decoder: inout RecordDecoder) throws {
        self.init(
            title: try decoder.text("title"), series: try decoder.text("series"), number: try decoder.text("number"),
            pages: try decoder.integer("pages"), format: try decoder.text("format"))
    }
}

extension ComicEntry {
    func encode(into encoder: inout RecordEncoder) {
        encoder.fixed(id.bytes)
        encoder.counted(name.bytes)
        encoder.list(objects) { $1.encode(into: &$0) }
        summary.encode(into: &encoder)
        encoder.fixed(duplicateTag)
        encoder.text(source)
        encoder.counted(key)
        encoder.optional(drop) { $0.fixed($1.bytes) }
        encoder.integer(added.nanoseconds)
    }

    init(from decoder: inout RecordDecoder) throws {
        self.init(
            id: try decoder.identifier("comic"), name: BytePath(bytes: try decoder.counted("name")),
            objects: try decoder.list("objects") { try ObjectReference(from: &$0) },
            summary: try ComicSummary(from: &decoder), duplicateTag: try decoder.fixed("duplicate tag", 32),
            source: try decoder.text("source"), key: try decoder.counted("key"),
            drop: try decoder.optional("drop") { try $0.identifier("drop") },
            added: Timestamp(nanoseconds: try decoder.integer("added")))
    }
}

extension ReadingProgress {
    func encode(into encoder: inout RecordEncoder) {
        encoder.integer(page)
        encoder.integer(UInt8(isFinished ? 1 : 0))
        encoder.integer(time.nanoseconds)
    }

    init(from decoder: inout RecordDecoder) throws {
        let page: UInt32 = try decoder.integer("page")
        let finished: UInt8 = try decoder.integer("finished")
        guard finished <= 1 else { throw RecordDecoder.Mismatch(field: "finished") }
        self.init(page: page, isFinished: finished == 1, time: Timestamp(nanoseconds: try decoder.integer("time")))
    }
}

extension Bookmark {
    func encode(into encoder: inout RecordEncoder) {
        encoder.integer(page)
        encoder.text(note)
        encoder.integer(time.nanoseconds)
    }

    init(from decoder: inout RecordDecoder) throws {
        self.init(
            page: try decoder.integer("page"), note: try decoder.text("note"),
            time: Timestamp(nanoseconds: try decoder.integer("time")))
    }
}
