#include "CHunspell.h"
#include <dlfcn.h>
#include <hunspell/hunspell.h>
#include <pthread.h>

static struct {
    __typeof__(Hunspell_create) *create;
    __typeof__(Hunspell_destroy) *destroy;
    __typeof__(Hunspell_get_dic_encoding) *encoding;
    __typeof__(Hunspell_spell) *spell;
    __typeof__(Hunspell_suggest) *suggest;
    __typeof__(Hunspell_free_list) *free_list;
} library;
static bool is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *handle = dlopen("libhunspell-1.7.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return;
    const struct {
        void *place;
        const char *name;
    } symbols[] = {
        {&library.create, "Hunspell_create"},
        {&library.destroy, "Hunspell_destroy"},
        {&library.encoding, "Hunspell_get_dic_encoding"},
        {&library.spell, "Hunspell_spell"},
        {&library.suggest, "Hunspell_suggest"},
        {&library.free_list, "Hunspell_free_list"},
    };
    for (unsigned index = 0; index < sizeof symbols / sizeof *symbols; index++) {
        void *found = dlsym(handle, symbols[index].name);
        if (found == NULL) return;
        *(void **)symbols[index].place = found;
    }
    is_loaded = true;
}

bool steward_speller_exists(void) {
    pthread_once(&once, load);
    return is_loaded;
}

steward_speller *steward_speller_open(const char *affix, const char *words) {
    return steward_speller_exists() ? library.create(affix, words) : NULL;
}

void steward_speller_close(steward_speller *speller) { library.destroy(speller); }

const char *steward_speller_encoding(steward_speller *speller) { return library.encoding(speller); }

bool steward_speller_knows(steward_speller *speller, const char *word) { return library.spell(speller, word) != 0; }

int steward_speller_propose(steward_speller *speller, const char *word, char ***list) {
    return library.suggest(speller, list, word);
}

void steward_speller_free(steward_speller *speller, char ***list, int count) {
    library.free_list(speller, list, count);
}
