// What the worker and the agent say to each other belongs to what this module offers.
@_exported import ComicParsing
