// Spelling by libhunspell, which is loaded on first use: it is a C++ library, and most commands check no spelling.
#pragma once
#include <stdbool.h>

/// An open dictionary; not for use by two threads at once.
typedef struct Hunhandle steward_speller;

/// Whether libhunspell is installed. Loads it on the first call; may be called on any thread.
bool steward_speller_exists(void);

/// Opens a dictionary by the paths of its .aff and .dic file. NULL if that fails, or without the library.
steward_speller *steward_speller_open(const char *affix, const char *words);
void steward_speller_close(steward_speller *speller);

/// The encoding of all words below, as the .aff file names it.
const char *steward_speller_encoding(steward_speller *speller);
bool steward_speller_knows(steward_speller *speller, const char *word);
/// Similar words, best first: returns how many, to be freed with `steward_speller_free`.
int steward_speller_propose(steward_speller *speller, const char *word, char ***list);
void steward_speller_free(steward_speller *speller, char ***list, int count);
