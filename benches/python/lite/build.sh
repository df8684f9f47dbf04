#!/bin/sh
# Builds SentencePiece Lite from the source package of sentencepiece 0.2.3 as a library with a C
# interface, and converts a model for it. Needs g++, flatc with its headers (Debian:
# flatbuffers-compiler, libflatbuffers-dev) and a Python with requirements.txt installed.
#
#   python/lite/build.sh MODEL DIRECTORY
#   TRIE_BENCHES_LITE=DIRECTORY cargo run --release -p trie-benches --features peers -- peers
set -eu
here=$(cd "$(dirname "$0")" && pwd)
model=$(realpath "$1")
mkdir -p "$2"
cd "$2"
python3 -m pip download --quiet --no-deps --no-binary :all: sentencepiece==0.2.3
tar xzf sentencepiece-0.2.3.tar.gz
source=sentencepiece-0.2.3/sentencepiece
# flatbuffers before 22.9 has no Vector::empty.
sed -i 's/precompiled_charsmap()->empty()/precompiled_charsmap()->size() == 0/' "$source/lite/sentencepiece_lite.cc"
flatc -c --gen-object-api -o . "$source/lite/sentencepiece_lite.fbs"
# The second one is for valgrind, which does not know the newest instructions.
for build in native:liblite.so x86-64-v3:liblite-valgrind.so; do
  g++ -std=c++20 -O3 "-march=${build%%:*}" -fPIC -shared -I. -I"$source" -I"$source/lite" \
    "$here/lite.cpp" "$source/lite/sentencepiece_lite.cc" "$source/lite/cached_sentencepiece_lite.cc" \
    -o "${build#*:}"
done
python3 -c 'import sys, sentencepiece; sentencepiece.convert_to_flatbuffer(sys.argv[1], output_file=sys.argv[2])' \
  "$model" model.spm.fb
