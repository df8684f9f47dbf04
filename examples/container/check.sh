#!/usr/bin/env bash
# Runs the steps of the Dockerfile beside this script without a container engine: each stage is an empty folder,
# COPY copies into it, RUN runs in it, and absolute paths mean paths in it. Base images are this machine.
#
#   check.sh [TEXT]    TEXT goes to the entry point's standard input; its output is printed
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
context=$(cd "$here/../.." && pwd)
dockerfile=$here/Dockerfile
roots=$(mktemp -d)
trap 'rm -rf "$roots"' EXIT

say() { printf '%s\n' "$*" >&2; }
fail() { say "Dockerfile: $*"; exit 1; }

# An argument as it stands in a stage: absolute paths that are there are taken inside its folder.
inside() {
  if [[ $1 == /* && -e $root$1 ]]; then printf '%s' "$root$1"; else printf '%s' "$1"; fi
}

# The strings of a JSON array without escapes, into `words`.
parse_json() {
  words=()
  local rest=$1
  while [[ $rest =~ \"([^\"\\]*)\"(.*) ]]; do
    words+=("$(inside "${BASH_REMATCH[1]}")")
    rest=${BASH_REMATCH[2]}
  done
}

copy_context() {
  # What Git knows: the working tree without what is built.
  (cd "$context" && git ls-files -z --cached --others --exclude-standard |
    tar --null -T - -cf - --ignore-failed-read 2>/dev/null) | tar -xf - -C "$1"
}

root='' workdir=/ entry=()
while IFS= read -r line; do
  [[ -z $line || $line == \#* ]] && continue
  say "$line"
  instruction=${line%% *} rest=${line#* }
  case $instruction in
    FROM)
      name=$(sed -n 's/.* AS \([a-z]*\)$/\1/p' <<<"$rest")
      root=$roots/${name:-final} workdir=/
      mkdir "$root" ;;
    WORKDIR)
      workdir=$rest
      mkdir -p "$root$workdir" ;;
    COPY)
      read -r first second third <<<"$rest"
      if [[ $rest == '. .' ]]; then
        copy_context "$root$workdir"
      elif [[ $first == --from=* ]]; then
        mkdir -p "$root$(dirname "$third")"
        cp -a "$roots/${first#--from=}$second" "$root$third"
      else
        fail "this script does not know: $line"
      fi ;;
    RUN)
      if [[ $rest == \[* ]]; then
        parse_json "$rest"
        (cd "$root$workdir" && "${words[@]}") >&2
      else
        (cd "$root$workdir" && sh -ec "$rest") >&2
      fi ;;
    ENTRYPOINT)
      parse_json "$rest"
      entry=("${words[@]}") ;;
    *) fail "this script does not know: $line" ;;
  esac
done <"$dockerfile"

[ ${#entry[@]} -gt 0 ] || fail 'no entry point'
say "the final stage: $(cd "$root" && find . -type f -printf '%P %s\n' | tr '\n' ' ')"
printf '%s\n' "${1-Hello World!}" | "${entry[@]}"
