import Glibc
import Platform
import Rules

/// A file that a step makes of another, by whatever means, and that comes to lie at its destination once. Blocks.
package struct MadeFile: Sendable {
    let services: FileServices
    let placement: FilePlacement

    package init(_ placement: FilePlacement, _ services: FileServices) {
        (self.placement, self.services) = (placement, services)
    }

    /// Makes it, unless it is there: under a name of the agent's own, from which it takes the first that is free.
    ///
    /// - Parameters:
    ///   - mode: its permission bits; no wider than those of the file that it is made of.
    ///   - make: is given the file that was judged, and what takes the next part of the new one.
    /// - Returns: where it lies.
    /// - Throws: `Fault(.superseded)` where the file is another by now, and what `make` throws.
    package func make(
        _ context: StepContext, _ make: @escaping (_ source: Descriptor, _ put: ([UInt8]) throws -> Void) throws -> Void
    ) throws -> BytePath {
        let (destination, files) = (placement.destination, context.files)
        try services.journal.makeFolders(for: destination.target, files)
        if let done = try found(context) { return done }
        _ = try files.judged(placement.source)
        let source = try files.present(placement.source)
        guard try ContentHash.of(source) == placement.hash else {
            throw Fault(.superseded, "\(placement.source) has changed since it was looked at", path: placement.source)
        }
        let record = services.journal.staging(context.stepID)
        let staged = try Durable.stage(
            for: files.spot(destination.target), mode: source.status().mode & 0o666 | 0o600, record: record
        ) { put in
            try make(source, put)
        }
        return try destination.name(staged, of: placement.source, record: record, services, context)
    }

    /// Where it lies, if it was made.
    package func found(_ context: StepContext) throws -> BytePath? {
        let found = try placement.destination.product(services.journal, context)
        guard let (path, status) = found, status.kind == .file else { return nil }
        return path
    }

    /// - Parameter summary: what was done, by where the file lies.
    package func receipt(_ path: BytePath, _ context: StepContext, _ summary: String) throws -> Receipt {
        let receipt = Receipt(
            summary, values: PlacementValues.of(path),
            effects: [try .made(path, context.files, among: services.journal.products(of: context.stepID))])
        return try placement.destination.replacing(receipt, services, context)
    }
}

extension FileEffect {
    /// What a step has made, as it lies there: that it is this step's, its state and its content are asked of one file, held
    /// open, whatever gets the name meanwhile. Blocks.
    ///
    /// - Parameter products: what the step has staged; empty where that is not known.
    /// - Throws: `Fault` where nothing has that name any more, or another file.
    package static func made(
        _ path: BytePath, _ files: HeldFiles, among products: [FileIdentity] = []
    ) throws -> FileEffect {
        let file: Descriptor
        do {
            file = try files.spot(path).openFile()
        } catch let fault as Fault where fault.kind == .superseded {
            throw Fault(.failed, "\(path) vanished as soon as it was made", path: path, errno: fault.errno)
        }
        let identity = try file.identity()
        guard products.isEmpty || products.contains(where: { $0.isSame(as: identity) }) else {
            throw Fault(.failed, "another file took the name \(path) as soon as it was made", path: path)
        }
        // Before it is read: what is written to it meanwhile is then news.
        let fingerprint = try file.status().fingerprint
        return .created(path, fingerprint, try ContentHash.of(file))
    }
}
