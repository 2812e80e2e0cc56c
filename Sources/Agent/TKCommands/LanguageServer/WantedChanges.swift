import NoteActions
import Platform
import TKCore

/// Answers from elsewhere, into the buffer: the agent sends those from the sidecar of a draft that is open here.
extension LanguageServer {
    /// Tells the agent which drafts are open.
    func tellAgent() async {
        let open = drafts.values.filter { !$0.isSidecar }.compactMap(\.path).sorted()
        await agent.set(open) { [weak self] request in
            var reply = await self?.take(request) ?? EditorReply()
            reply.serial = request.serial
            return reply
        }
    }

    /// Puts accepted proposals into the buffer.
    ///
    /// - Returns: what became of them, and what was answered here and is in no file yet.
    func take(_ request: EditorRequest) async -> EditorReply {
        guard let uri = drafts.values.first(where: { $0.path == request.draft })?.uri else { return EditorReply() }
        do {
            try await carryOut(request, uri)
        } catch {
            await connection.log(.warning, "\(request.draft.nameText): \(explain(error))")
        }
        do {
            return try await outcome(of: Set(request.accepted.map(\.key)), uri)
        } catch {
            await connection.log(.warning, "\(request.draft.nameText): \(explain(error))")
            return EditorReply()
        }
    }

    /// Decides with the text that the buffer has then; nothing counts unless the client has made the change.
    func carryOut(_ request: EditorRequest, _ uri: String) async throws {
        var wanted: [String: SidecarAnswers.Answer] = [:]
        for key in request.skipped { wanted[key] = SidecarAnswers.Answer(mark: .skip) }
        for answer in request.accepted {
            wanted[answer.key] = SidecarAnswers.Answer(mark: .accept, proposal: answer.words)
        }
        for _ in 0..<3 {
            // Its review on disk may have changed.
            guard let view = try await view(of: uri, isFresh: false), let open = drafts[uri] else { return }
            guard open.version == view.version else { continue }
            // What the writer has undone in the buffer stays undone.
            let findings = view.state.findings.filter {
                $0.isOpen && $0.applied == nil && wanted[$0.key] != nil && !open.declined.contains($0.key)
            }
            guard !findings.isEmpty else { return }
            let keys = Set(findings.map(\.key))
            let (examiner, answers) = (examiner, wanted.filter { keys.contains($0.key) })
            let found = try await pool.run { try examiner.examine(open, answers: answers) }
            guard drafts[uri]?.version == open.version else { continue }
            if let text = found.newText {
                do {
                    let edits = view.draft.edits(to: text, client.encoding)
                    guard try await apply(edits, to: open, named: "tk: an answer"), try await holds(found, keys, uri)
                    else { continue }
                } catch let error as ReplyError {
                    drafts[uri]?.declined.formUnion(keys)
                    throw error
                }
            }
            let (skipped, accepted) = (findings.filter { wanted[$0.key]?.mark == .skip }, found.view.state.findings)
            drafts[uri]?.skipped.formUnion(skipped.map(\.suggestion.id))
            return taken(
                Set(accepted.filter { $0.state == .accepted && keys.contains($0.key) }.map(\.suggestion.id)),
                found.view.state, uri)
        }
    }

    /// - Parameter wanted: keys of the findings that were to be taken.
    func outcome(of wanted: Set<String>, _ uri: String) async throws -> EditorReply {
        guard let open = drafts[uri], let mine = open.state else { return EditorReply() }
        let examiner = examiner
        let disk = try await pool.run { try examiner.stored(open)?.findings.filter(\.isOpen) } ?? []
        var reply = EditorReply()
        reply.content = mine.content
        for finding in disk {
            guard let found = mine.findings.first(where: { $0.isAnother(finding) }) else {
                guard wanted.contains(finding.key) else { continue }
                let note = "Not applied: these words are no longer in the draft."
                reply.refused.append(EditorReply.Refused(key: finding.key, state: .orphaned, note: note))
                continue
            }
            switch found.state {
            case .accepted: reply.taken.append(EditorReply.Taken(key: finding.key, applied: found.applied))
            case .skipped: reply.skipped.append(finding.key)
            case .pending, .orphaned:
                guard wanted.contains(finding.key), let note = found.note else { continue }
                reply.refused.append(EditorReply.Refused(key: finding.key, state: found.state, note: note))
            }
        }
        return reply
    }
}

extension ReviewFinding {
    /// Whether this is the same finding in another version of the state. An id may change with the words around it.
    func isAnother(_ other: ReviewFinding) -> Bool {
        suggestion.id == other.suggestion.id
            || key == other.key && suggestion.rule == other.suggestion.rule
                && suggestion.originalText == other.suggestion.originalText
    }
}
