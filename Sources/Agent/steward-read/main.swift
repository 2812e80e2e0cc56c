import ContentReading

ReadWorker.main(CommandLine.arguments)
