// The least that sealing a file takes: AES-256-GCM over 64 KiB at a time, written and synced. With `verify` also what
// the vault adds to be sure: the file is read back past the page cache, every tag compared and the plaintext hashed.
// No header, no padding, no key but a fixed one.
#define _GNU_SOURCE
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { chunk = 65536, tag = 16, batch = 2, carry = 2 * chunk, window = 1 << 20 };

static const unsigned char key[32] = {1};

static int fail(const char *what) {
    perror(what);
    exit(1);
}

static void number(unsigned char *nonce, unsigned char *aad, unsigned long index) {
    for (int byte = 0; byte < 8; byte++) aad[32 + byte] = nonce[byte] = (unsigned char)(index >> 8 * (7 - byte));
}

/// Reads until `count` bytes are there or the file ends.
static size_t fill(int file, unsigned char *target, size_t count) {
    size_t done = 0;
    ssize_t got;
    while (done < count && (got = read(file, target + done, count - done)) > 0) done += (size_t)got;
    return done;
}

static void seal(int in, int out) {
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, NULL);
    unsigned char *plain = aligned_alloc(4096, batch * chunk), *sealed = malloc(batch * (chunk + tag));
    unsigned char nonce[12] = {0}, aad[41] = {0};
    unsigned long index = 0;
    size_t got;
    while ((got = fill(in, plain, batch * chunk)) > 0) {
        unsigned char *end = sealed;
        for (size_t start = 0; start < got; start += chunk, index++) {
            int length = (int)(got - start < chunk ? got - start : chunk), written;
            number(nonce, aad, index);
            EVP_EncryptInit_ex(cipher, NULL, NULL, NULL, nonce);
            EVP_EncryptUpdate(cipher, NULL, &written, aad, sizeof aad);
            EVP_EncryptUpdate(cipher, end, &written, plain + start, length);
            EVP_EncryptFinal_ex(cipher, end + written, &written);
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, tag, end + length);
            end += length + tag;
        }
        if (write(out, sealed, (size_t)(end - sealed)) != end - sealed) fail("write");
    }
    if (fsync(out)) fail("fsync");
}

static void verify(const char *path) {
    int file = open(path, O_RDONLY | O_DIRECT);
    if (file < 0) file = open(path, O_RDONLY);
    if (file < 0) fail(path);
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, NULL);
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    EVP_DigestInit_ex(hash, EVP_sha256(), NULL);
    // What is left of one window stands before the next, so that every read is aligned.
    unsigned char *buffer = aligned_alloc(4096, carry + window), *plain = malloc(chunk), nonce[12] = {0}, aad[41] = {0};
    size_t start = carry, end = carry, got = 1;
    for (unsigned long index = 0;; index++) {
        if (end - start < chunk + tag && got > 0) {
            size_t left = end - start;
            memmove(buffer + carry - left, buffer + start, left);
            got = fill(file, buffer + carry, window);
            start = carry - left;
            end = carry + got;
        }
        if (start == end) break;
        int length = (int)(end - start < chunk + tag ? end - start : chunk + tag) - tag, written;
        number(nonce, aad, index);
        EVP_DecryptInit_ex(cipher, NULL, NULL, NULL, nonce);
        EVP_DecryptUpdate(cipher, NULL, &written, aad, sizeof aad);
        EVP_DecryptUpdate(cipher, plain, &written, buffer + start, length);
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, tag, buffer + start + length);
        if (EVP_DecryptFinal_ex(cipher, plain + written, &written) != 1) {
            fprintf(stderr, "part %lu does not verify\n", index);
            exit(1);
        }
        EVP_DigestUpdate(hash, plain, (size_t)length);
        start += (size_t)length + tag;
    }
    unsigned char digest[32];
    EVP_DigestFinal_ex(hash, digest, NULL);
    for (int byte = 0; byte < 32; byte++) printf("%02x", digest[byte]);
    printf("\n");
}

int main(int count, char **words) {
    if (count < 3 || count > 4) return 64;
    int in = open(words[1], O_RDONLY), out = open(words[2], O_RDWR | O_CREAT | O_EXCL, 0600);
    if (in < 0 || out < 0) fail("open");
    seal(in, out);
    if (count == 4 && !strcmp(words[3], "verify")) verify(words[2]);
    return 0;
}
