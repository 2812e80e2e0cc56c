import ComicParsing

UnpackWorker.main(CommandLine.arguments)
