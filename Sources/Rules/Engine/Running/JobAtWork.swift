import Ledger

/// A job with its steps, as they stand in the ledger. A class, so that thousands of jobs that wait without it take no room
/// for it.
final class LoadedJob: Sendable {
    let record: JobRecord
    let steps: [StepRecord]
    /// What the record holds as text; nil where that is yet to be read.
    fileprivate let contents: (file: FileReference, values: Values)?

    init(_ record: JobRecord, _ steps: [StepRecord]) {
        (self.record, self.steps, contents) = (record, steps, nil)
    }

    /// One that is added as it is here.
    init(_ record: JobRecord, _ steps: [StepRecord], file: FileReference, values: Values) {
        assert(
            (try? LedgerJSON.decode(Values.self, from: record.values)) == values,
            "the record of a job holds other values than those that it would be carried out with")
        (self.record, self.steps, contents) = (record, steps, (file, values))
    }
}

/// A job that is being carried out, with what its record holds as text read once.
struct JobAtWork: Sendable {
    var record: JobRecord
    private(set) var file: FileReference
    private(set) var values: Values

    /// - Throws: `Fault(.failed)` where the record is of a version that this one does not know, or its place is gone.
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

    /// Takes over where another job has put the file meanwhile.
    mutating func catchUp(with places: PlaceMap, in transaction: LedgerTransaction) throws {
        guard let now = try transaction.file(ofJob: record.id), now != record.file,
            let row = try transaction.job(record.id)
        else { return }
        (record.file, record.moved) = (row.file, row.moved)
        file = try FileReference(stored: row.file, in: places, showing: transaction.names)
    }

    /// Adds what a step has said, for the templates of those after it.
    mutating func add(_ said: Values) throws {
        guard !said.isEmpty else { return }
        values.merge(said) { $1 }
        record.values = try LedgerJSON.encode(values)
    }

    /// What one of its steps knows: what the job knows, and the line or page that the step is about.
    func values(of step: StepRecord) throws -> Values {
        guard let item = step.item else { return values }
        return values.merging(try LedgerJSON.decode(Values.self, from: item)) { $1 }
    }

    /// All steps are done.
    mutating func end() {
        record.state = .done
        record.values = Self.noValues
        record.problem = nil
        record.nextAttempt = nil
    }

    /// What templates could show is nothing to a job whose steps are all done.
    static let noValues = "{}"
}

extension JobRecord {
    /// Takes note of where its file is now.
    package mutating func setFile(_ file: FileReference, hiding names: HiddenNames) throws {
        self.file = try file.stored(hiding: names)
        moved = FileLocation(place: file.place, path: file.path)
    }
}
