import ArgumentParser
import TKCore

/// What a draft is and how far it has come: what `ask` and `council` share.
struct TextKind: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The kind of text.", valueName: "id"),
        completion: Completions.storyTypes)
    var storyType: String?

    @Option(
        name: .long, help: "How far the draft has come: early, middle, late.",
        completion: Choice.completion(DraftStage.self), transform: Choice.named)
    var stage: DraftStage?
}
