import Platform
import Rules

/// Places a comic in a library, exactly once. A comic that the library already has goes to the trash instead.
struct LibraryShelving: Primitive {
    let services: ComicServices
    let intent: LibraryImport

    var targets: [BytePath] { intent.placement.targets + [intent.trashed.slot] }

    func perform(_ context: StepContext) async throws -> Receipt {
        try await services.comics.shelving(in: intent.library) {
            if let done = try finished(context) { return done }
            if let copy = try copy(context.files) {
                return skipped(copy, intent.keepsSource ? nil : try intent.trashed.put(services.placing, context))
            }
            let receipt = try placing.carryOut(context)
            switch receipt.effects.first {
            case .created(let path, let print, let hash), .moved(_, let path, let print, let hash):
                services.comics.placed.add(hash, path)
                services.comics.read.add(hash, print)
            default: break
            }
            return receipt
        }
    }

    func recover(_ context: StepContext) async throws -> Recovery {
        try await services.comics.shelving(in: intent.library) {
            if let done = try finished(context) { return .done(done) }
            return .notDone
        }
    }

    /// Moves the comic back to where it came from, or a duplicate out of the trash.
    func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard case .moved(_, let to, _, _)? = receipt.effects.first else {
            return try await ProductRemoval(services: services.placing).undo(receipt, context)
        }
        let back = PuttingBack(services: services.placing, context: context)
        return try await services.files.run {
            to == intent.trashed.slot
                ? try back.restoreFromTrash(receipt.effects.first) : try back.move(receipt.effects.first)
        }
    }

    var forecast: Forecast? {
        if intent.copy != nil { return Forecast(intent.keepsSource ? [] : [.trashes]) }
        return intent.keepsSource ? intent.placement.copying : intent.placement.moving
    }

    private func finished(_ context: StepContext) throws -> Receipt? {
        if !intent.keepsSource, let there = try intent.trashed.found(services.placing, context) {
            return skipped(try copy(context.files) ?? intent.copy ?? intent.library, there)
        }
        return try placing.finished(context)
    }

    private func copy(_ files: HeldFiles) throws -> BytePath? {
        guard intent.skipsCopies else { return nil }
        return try ComicCopies(services, in: intent.library, files).find(
            intent.placement.hash, size: intent.placement.fingerprint?.size ?? 0, besides: intent.placement.source)
    }

    private var placing: Placing {
        let source = intent.placement.source
        let keeps = intent.keepsSource
        let receipt = { @Sendable (placed: Mover.Placed) in
            Receipt(
                "imported \(source) as \(placed.path)\(placed.losses)", values: values(placed.path, "imported"),
                effects: [
                    keeps
                        ? .created(placed.path, placed.fingerprint, placed.hash)
                        : .moved(source, to: placed.path, placed.fingerprint, placed.hash)
                ])
        }
        let there = { @Sendable in
            Receipt("left \(source) where it is: it is in its place", values: values(source, "there already"))
        }
        return keeps
            ? intent.placement.copying(services.placing, .forGood, receipt: receipt, skipped: there)
            : intent.placement.moving(services.placing, .forGood, receipt: receipt, skipped: there)
    }

    private func skipped(_ copy: BytePath, _ placed: Mover.Placed?) -> Receipt {
        let source = intent.placement.source
        return Receipt(
            "\(copy) is the same comic; \(source) was \(placed == nil ? "left where it is" : "put into the trash")",
            values: values(copy, "there already"),
            effects: placed.map { [.moved(source, to: $0.path, $0.fingerprint, $0.hash)] } ?? [])
    }

    private func values(_ path: BytePath, _ outcome: String) -> Values {
        let more: Values = [
            "comic.outcome": .text(outcome), "comic.path": .text((path.relative(to: intent.library) ?? path).text),
        ]
        return intent.values.merging(more) { $1 }.merging(PlacementValues.of(path)) { $1 }
    }
}
