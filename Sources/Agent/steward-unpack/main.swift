import ComicArchive

UnpackWorker.main(CommandLine.arguments)
