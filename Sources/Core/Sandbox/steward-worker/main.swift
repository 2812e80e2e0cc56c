// The first word is the mode: the kind of file that the process gets.
let words = Array(CommandLine.arguments.dropFirst())
if words.first == "content" { ReadWorker.main(words) }
UnpackWorker.main(words)
