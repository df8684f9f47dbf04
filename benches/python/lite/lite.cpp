// A C interface over SentencePiece Lite: ids into memory that the library owns.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "cached_sentencepiece_lite.h"
#include "sentencepiece_lite.h"

using sentencepiece::lite::CachedSentencePieceLite;
using sentencepiece::lite::SentencePieceLiteProcessor;
using sentencepiece::lite::StatusCode;
using sentencepiece::lite::TokenCache;

namespace {
struct Caller {
  std::vector<int> ids;
  TokenCache cache;
};
}  // namespace

extern "C" {

// Maps the model; it is never unmapped.
void *lite_load(const char *path) {
  const int file = open(path, O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) return nullptr;
  void *memory = mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  const std::string_view buffer(static_cast<const char *>(memory), status.st_size);
  auto *processor = new SentencePieceLiteProcessor(buffer);
  if (processor->status() == StatusCode::kOk) return processor;
  delete processor;
  return nullptr;
}

void lite_free(void *processor) { delete static_cast<SentencePieceLiteProcessor *>(processor); }

void *lite_caller_new() { return new Caller(); }
void lite_caller_free(void *caller) { delete static_cast<Caller *>(caller); }

// Encodes; returns the number of ids and sets `data`, or returns -1.
std::ptrdiff_t lite_encode(const void *processor, const char *text, std::size_t length, int cached,
                           void *caller, const int **data) {
  const auto &lite = *static_cast<const SentencePieceLiteProcessor *>(processor);
  auto &own = *static_cast<Caller *>(caller);
  own.ids.clear();
  const std::string_view view(text, length);
  const StatusCode code = cached ? CachedSentencePieceLite::Encode(lite, own.cache, view, &own.ids)
                                 : lite.Encode(view, &own.ids);
  if (code != StatusCode::kOk) return -1;
  *data = own.ids.data();
  return static_cast<std::ptrdiff_t>(own.ids.size());
}
}
