import Glibc
import Platform
import Synchronization

/// Who reads one file (design section 3, "A stale buffer"): what happens to it until somebody saves it.
extension WatchLoop {
    /// Arms, or arms anew. Returns what went wrong.
    func armReads(_ file: BytePath) -> Fault? {
        // What is unread now belongs to the time before.
        disarmReads(file)
        board.reads.withLock { $0[file] = WatchBoard.Reads() }
        if let fault = placeReads(file) {
            board.reads.withLock { $0[file] = nil }
            return fault
        }
        return nil
    }

    func disarmReads(_ file: BytePath) {
        pauseReads(file)
        board.reads.withLock { $0[file] = nil }
    }

    /// Takes the watch away for a moment, after all events so far have been read.
    func pauseReads(_ file: BytePath) {
        while let event = library.next() { handle(event) }
        guard let wd = readers.removeValue(forKey: file) else { return }
        table.setReads(nil, on: wd)
        if table.orphans.contains(wd) {
            table.retire(wd)
            library.remove(wd)
        }
    }

    /// Watches again. What happened meanwhile is unknown unless the file is as it was.
    func resumeReads(_ file: BytePath, wasSaved: Bool) {
        guard board.reads.withLock({ $0[file] != nil }) else { return }
        if wasSaved { board.reads.withLock { $0[file]?.saved = true } }
        rearmReads(file)
    }

    /// After a pause in which reads may have been missed; a file that is gone was saved by replacing it.
    func rearmReads(_ file: BytePath) {
        if placeReads(file) != nil { board.reads.withLock { $0[file]?.saved = true } }
    }

    private func placeReads(_ file: BytePath) -> Fault? {
        do {
            guard let status = try FileStatus.of(file), status.kind == .file else {
                return Fault(.failed, "\(file) is no file, so nobody's reading of it can be noticed", path: file)
            }
            switch obtain(file, RootIdentity(status), Bits.reads) {
            case .watch(let wd):
                readers[file] = wd
                table.setReads(file, on: wd)
                return nil
            case .failed(let code): return Fault.system("watch who reads", file, errno: code)
            }
        } catch let fault as Fault {
            return fault
        } catch {
            return Fault(.failed, explain(error), path: file)
        }
    }

    /// Reads count up to the first save, whether in place or by replacing the file.
    func noteReads(_ event: KernelEvent, _ file: BytePath) {
        let saved = event.has(
            Bits.modify | Bits.closeWrite | Bits.deleteSelf | Bits.moveSelf | Bits.ignored | Bits.unmount)
        let read = event.has(Bits.access | Bits.closeNoWrite)
        guard saved || read else { return }
        board.reads.withLock { reads in
            guard let before = reads[file], !before.saved else { return }
            if saved { reads[file]?.saved = true } else { reads[file]?.seen = true }
        }
    }

    /// Events were lost: anybody may have read anything.
    func doubtReads() {
        board.reads.withLock { reads in
            for file in Array(reads.keys) where reads[file]?.saved == false { reads[file]?.seen = true }
        }
    }
}
