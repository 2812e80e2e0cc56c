import Ledger

/// A job and its steps as stored in the ledger. A class, so that thousands of waiting jobs without it stay small.
final class LoadedJob: Sendable {
    let record: JobRecord
    let steps: [StepRecord]
    /// The decoded file and values of the record; nil until decoded.
    fileprivate let contents: (file: FileReference, values: Values)?

    init(_ record: JobRecord, _ steps: [StepRecord]) {
        (self.record, self.steps, contents) = (record, steps, nil)
    }

    /// A job that is about to be inserted with exactly these values.
    init(_ record: JobRecord, _ steps: [StepRecord], file: FileReference, values: Values) {
        assert(
            (try? LedgerJSON.decode(Values.self, from: record.values)) == values,
            "the record of a job holds other values than those that it would be carried out with")
        (self.record, self.steps, contents) = (record, steps, (file, values))
    }
}

/// A running job, with its record decoded once.
struct JobAtWork: Sendable {
    var record: JobRecord
    private(set) var file: FileReference
    private(set) var values: Values

    /// - Throws: `Fault(.failed)` if the record's format version is unknown, or its place is gone.
    init(_ record: JobRecord, in places: PlaceMap, showing names: HiddenNames) throws {
        self.record = record
        file = try FileReference(stored: record.file, in: places, showing: names)
        values = try LedgerJSON.decode(Values.self, from: record.values)
    }

    /// - Throws: as ``init(_:in:showing:)``.
    init(_ loaded: LoadedJob, in places: PlaceMap, showing names: HiddenNames) throws {
        guard let contents = loaded.contents else {
            self = try JobAtWork(loaded.record, in: places, showing: names)
            return
        }
        record = loaded.record
        (file, values) = contents
    }

    mutating func move(to file: FileReference, hiding names: HiddenNames) throws {
        self.file = file
        try record.setFile(file, hiding: names)
    }

    /// Picks up the file's new location if another job has moved it in the meantime.
    mutating func catchUp(with places: PlaceMap, in transaction: LedgerTransaction) throws {
        guard let now = try transaction.file(ofJob: record.id), now != record.file,
            let row = try transaction.job(record.id)
        else { return }
        (record.file, record.moved) = (row.file, row.moved)
        file = try FileReference(stored: row.file, in: places, showing: transaction.names)
    }

    /// Adds the values that a step provided, for the templates of later steps.
    mutating func add(_ said: Values) throws {
        guard !said.isEmpty else { return }
        values.merge(said) { $1 }
        record.values = try LedgerJSON.encode(values)
    }

    /// The values available to a step: those of the job, plus the line or page that the step is about.
    func values(of step: StepRecord) throws -> Values {
        guard let item = step.item else { return values }
        return values.merging(try LedgerJSON.decode(Values.self, from: item)) { $1 }
    }

    /// Marks the job as done.
    mutating func end() {
        record.state = .done
        record.values = Self.noValues
        record.problem = nil
        record.nextAttempt = nil
    }

    /// A finished job needs no values for templates.
    static let noValues = "{}"
}

extension JobRecord {
    /// Records where its file is now.
    package mutating func setFile(_ file: FileReference, hiding names: HiddenNames) throws {
        self.file = try file.stored(hiding: names)
        moved = FileLocation(place: file.place, path: file.path)
    }
}
