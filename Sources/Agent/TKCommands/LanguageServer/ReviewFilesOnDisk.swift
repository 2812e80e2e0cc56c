import Glibc
import NoteActions
import Platform
import TKCore

/// The files of the reviews of open drafts: what others write there counts here, and where no agent does it, what was
/// answered here is written there.
extension LanguageServer {
    // MARK: Watching

    /// Watches the folders of a document's review.
    func watch(_ open: OpenDraft) async {
        guard let path = open.path, !open.isSidecar else { return }
        if files == nil {
            do {
                files = try FolderWatch { [weak self] path in Task { [weak self] in await self?.changed(path) } }
            } catch {
                // Clients that watch files tell of changes, too.
                await connection.log(.warning, explain(error))
            }
        }
        guard let files else { return }
        let folders = [path.parent] + Self.folders(of: path)
        await pool.runQuietly { files.add(folders) }
    }

    private static func folders(of draft: BytePath) -> [BytePath] {
        let reviews = ReviewFiles(draft: draft).state.parent
        return [reviews.parent, reviews]
    }

    /// A file or folder has changed; nil for an unknown one.
    private func changed(_ path: BytePath?) async {
        for open in drafts.values where !open.isSidecar {
            guard let draft = open.path else { continue }
            let review = ReviewFiles(draft: draft)
            if let path, path == review.state || path == review.sidecar {
                examineSoon(open.uri, after: .zero)
                if path == review.sidecar { record(open.uri) }
            } else if path == nil || Self.folders(of: draft).contains(where: { $0 == path }) {
                await watch(open)
                examineSoon(open.uri, after: .zero)
            }
        }
    }

    // MARK: Saving

    /// A document has been saved.
    ///
    /// - Parameter text: as the client says; nil if it does not.
    func saved(_ uri: String, _ text: String?) {
        // The client's text counts if it is not what its changes have led to: all positions would be wrong.
        if let text, let open = drafts[uri], open.text.string != text {
            drafts[uri]?.text = EditedText(text)
            examineAll()
            Task { await connection.log(.warning, "\(open.name) was read anew: its changes led to another text") }
        }
        drafts[uri]?.declined = []
        examineSoon(uri, after: .zero)
        record(uri)
    }

    // MARK: Writing

    /// What tells whether a draft's sidecar may be written. The editor that runs this server tells it by itself if it
    /// has the sidecar open.
    func unsaved(for draft: BytePath) -> UnsavedChanges {
        let sidecar = ReviewFiles(draft: draft).sidecar
        return UnsavedChanges(besides: drafts.values.contains { $0.path == sidecar } ? nil : getppid())
    }

    /// Writes what was answered here into the review's files, one document after another, unless an agent does.
    @discardableResult
    func record(_ uri: String) -> Task<Void, Never> {
        let earlier = recording
        let task = Task {
            await earlier?.value
            do {
                try await write(uri)
            } catch is CancellationError {
            } catch {
                await connection.log(.warning, "\(drafts[uri]?.name ?? uri): \(explain(error))")
            }
        }
        recording = task
        return task
    }

    private func write(_ uri: String) async throws {
        guard let path = drafts[uri]?.path, await !agent.keeps(path), try await view(of: uri, isFresh: false) != nil
        else { return }
        let reply = try await outcome(of: [], uri)
        guard let open = drafts[uri], let mine = open.state else { return }
        let (examiner, unsaved) = (examiner, unsaved(for: path))
        let wanted = try await pool.run {
            let settings = try examiner.settings(of: open)
            return try ReviewRecord(of: path, unsaved, settings: settings, pass: examiner.pass(open, settings))
                .write(mine, stored: open.stored, reply)
        }
        await watch(open)
        if let wanted { try await carryOut(wanted, uri) }
    }
}
