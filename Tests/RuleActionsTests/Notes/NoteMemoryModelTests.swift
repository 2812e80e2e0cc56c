import TestSupport
import Testing

@testable import NoteActions

/// Random histories with known truth, against the decision table (docs/design/stale-buffers.md).
@Suite("Random histories of a note") struct NoteMemoryModelTests {
    @Test("No block is lost unless removed by a person, and none that was removed comes back")
    func blockLostUnless() {
        var generator = SeededGenerator(for: "stale buffers")
        var judged = Tally()
        for number in 0..<10_000 {
            var history = History(editors: Int.random(in: 1...3, using: &generator))
            for _ in 0..<Int.random(in: 4...24, using: &generator) { history.step(&generator) }
            history.look()
            judged.add(history.tally)
            if let wrong = history.wrong {
                Issue.record("history \(number): \(wrong)\n\(history.told.joined(separator: "\n"))")
                return
            }
        }
        // Each outcome has to occur often, or the histories prove nothing.
        #expect(judged.putBack > 1000 && judged.keptOut > 1000 && judged.held > 1000, "\(judged)")
        #expect(judged.restarts > 1000 && judged.undecided > 100, "\(judged)")
    }

    struct Tally {
        var putBack = 0
        var keptOut = 0
        var held = 0
        var undecided = 0
        var restarts = 0

        mutating func add(_ other: Tally) {
            putBack += other.putBack
            keptOut += other.keptOut
            held += other.held
            undecided += other.undecided
            restarts += other.restarts
        }
    }

    /// One note, its agent, and people with editors and scripts who also write to it.
    private struct History {
        struct Buffer {
            /// The load it belongs to.
            var number = 0
            var sight = NoteSight(tokens: [], lines: [])
            /// The blocks that this buffer has ever contained.
            var had: Set<String> = []
            /// Those of them that one of its saves held, or that had been held when it was loaded.
            var held: Set<String> = []
        }

        var note = NoteSight(tokens: [], lines: [1, 2, 3])
        /// The buffer the note was saved from, as it was then.
        var saved: Buffer?
        var editors: [Buffer]
        var known = NoteSight(tokens: [], lines: [])
        var memory = NoteMemory()
        /// Blocks of another writer's version that was read and that the note is based on.
        var held: Set<String> = []
        /// Blocks that somebody once removed: they may stay out if they came back with another's buffer.
        var removed: Set<String> = []
        var nextLine: UInt64 = 10
        var nextBlock = 0
        var loads = 0
        var tally = Tally()
        var told: [String] = []
        var wrong: String?

        init(editors: Int) {
            self.editors = (0..<editors).map { _ in Buffer() }
            observe()
            for index in self.editors.indices { load(index) }
        }

        mutating func step(_ generator: inout SeededGenerator) {
            let editor = Int.random(in: editors.indices, using: &generator)
            switch Int.random(in: 0..<12, using: &generator) {
            case 0...2: capture()
            case 3: load(editor)
            case 4...6: save(editor, removing: nil)
            case 7...8:
                if let token = editors[editor].sight.tokens.sorted().randomElement(using: &generator) {
                    save(editor, removing: token)
                }
            case 9: script()
            case 10: restart()
            default: look()
            }
            // Most saves are looked at before the next; an append that comes first sees them as well.
            if Int.random(in: 0..<4, using: &generator) > 0 { look() }
        }

        mutating func load(_ index: Int) {
            told.append("editor \(index) loads \(note.tokens.sorted())")
            loads += 1
            // Loading a version without a block continues with that removal.
            editors[index] = Buffer(
                number: loads, sight: note, had: note.tokens.union(saved?.had ?? []),
                held: note.tokens.intersection(held).union(saved?.held ?? []))
        }

        mutating func save(_ index: Int, removing token: String?) {
            if let token { editors[index].sight.tokens.remove(token) }
            editors[index].sight.lines.insert(nextLine)
            nextLine += 1
            note = editors[index].sight
            saved = editors[index]
            held = editors[index].held
            told.append("editor \(index) saves \(note.tokens.sorted()), line \(nextLine - 1), without \(token ?? "-")")
        }

        /// `echo >>`
        mutating func script() {
            note.lines.insert(nextLine)
            told.append("a script adds line \(nextLine)")
            nextLine += 1
        }

        /// Only the ledger is left.
        mutating func restart() {
            memory = NoteMemory(
                version: memory.version, blocks: Array(memory.blocks.values), lines: memory.lines,
                knowsLines: memory.knowsLines)
            tally.restarts += 1
        }

        mutating func capture() {
            observe()
            let token = "cap-\(nextBlock)"
            nextBlock += 1
            told.append("the agent writes \(token)")
            write([token])
        }

        mutating func look() {
            observe()
            if !memory.wiped.isEmpty { write([]) }
        }

        /// The agent's work under the lease: it compares, and adds the blocks to put back along with the new ones.
        private mutating func write(_ new: [String]) {
            let back = memory.wiped.map(\.token)
            if !back.isEmpty { told.append("the agent puts back \(back)") }
            // Nobody has held a block since it was put back.
            held.subtract(back)
            for token in back {
                for index in editors.indices { editors[index].held.remove(token) }
            }
            note.tokens.formUnion(back + new)
            memory.wrote((back + new).map { (step: $0, token: $0) })
            known = note
            saved = nil
        }

        private mutating func observe() {
            guard note != known || memory.version == 0 else { return }
            let before = known.tokens
            let judged = Dictionary(uniqueKeysWithValues: memory.see(note).map { ($0.token, $0.fate) })
            for token in before.subtracting(note.tokens).sorted() {
                let fate = judged[token]
                told.append("  the agent finds \(token) \(fate?.rawValue ?? "not judged")")
                guard let saved else {
                    wrong = wrong ?? "\(token) vanished though no editor saved"
                    continue
                }
                let wasHad = saved.had.contains(token)
                let wasHeld = saved.held.contains(token)
                defer { if wasHad { removed.insert(token) } }
                if removed.contains(token) {
                    tally.undecided += 1
                } else if !wasHad {
                    tally.putBack += 1
                    if fate != .wiped { wrong = wrong ?? "\(token) stays out, which the editor never had" }
                } else if wasHeld {
                    tally.keptOut += 1
                    if fate == .wiped {
                        wrong = wrong ?? "\(token) comes back, which the editor held, and somebody removed"
                    }
                } else {
                    tally.undecided += 1
                }
            }
            held.formUnion(note.tokens)
            if let saved {
                tally.held += 1
                for index in editors.indices where editors[index].number == saved.number {
                    editors[index].held.formUnion(note.tokens)
                }
            }
            known = note
        }
    }
}
