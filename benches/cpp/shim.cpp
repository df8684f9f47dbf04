// SentencePiece's ids without the cost of the Rust wrapper, which asks for a serialized message with
// every piece's text and then parses it. Counts allocations, which Rust's allocator does not see.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include <sentencepiece_processor.h>

namespace {
thread_local uint64_t allocation_count = 0;
}

void *operator new(std::size_t size) {
  ++allocation_count;
  if (void *memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

extern "C" {

uint64_t shim_allocations() { return allocation_count; }

void *shim_load(const char *path, std::size_t length) {
  auto *processor = new sentencepiece::SentencePieceProcessor();
  const auto status = processor->Load(absl::string_view(path, length));
  if (status.ok()) return processor;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  delete processor;
  return nullptr;
}

void shim_free(void *processor) {
  delete static_cast<sentencepiece::SentencePieceProcessor *>(processor);
}

void *shim_ids_new() { return new std::vector<int>(); }
void shim_ids_free(void *ids) { delete static_cast<std::vector<int> *>(ids); }

// Encodes into `ids`; returns the number of ids and sets `data`, or returns -1.
std::ptrdiff_t shim_encode(const void *processor, const char *text, std::size_t length, void *ids,
                           const int **data) {
  auto *out = static_cast<std::vector<int> *>(ids);
  const auto *spp = static_cast<const sentencepiece::SentencePieceProcessor *>(processor);
  if (!spp->Encode(absl::string_view(text, length), out).ok()) return -1;
  *data = out->data();
  return static_cast<std::ptrdiff_t>(out->size());
}
}
