import ComicUnpacking

UnpackWorker.main(CommandLine.arguments)
