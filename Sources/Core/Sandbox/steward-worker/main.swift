// The first word is the mode: what kind of file the process is given.
let words = Array(CommandLine.arguments.dropFirst())
if words.first == "content" { ReadWorker.main(words) }
UnpackWorker.main(words)
