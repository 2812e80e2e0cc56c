import ArgumentParser
import TKCore

/// The kind of draft and its stage, shared by `ask` and `council`.
struct TextKind: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The kind of text.", valueName: "id"),
        completion: Completions.storyTypes)
    var storyType: String?

    @Option(
        name: .long, help: "The stage of the draft: early, middle, late.",
        completion: Choice.completion(DraftStage.self), transform: Choice.named)
    var stage: DraftStage?
}
