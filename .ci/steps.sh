# Sourced by .ci/run and .ci/nightly: prints each step, and at the end its duration.
current="" started=0 took=()
step() {
  [ -z "$current" ] || took+=("$(printf '%5d s  %s' $((SECONDS - started)) "$current")")
  current="$*" started=$SECONDS
  [ -z "$current" ] || printf '\n== %s\n' "$current"
}
trap 'step ""; printf "\n== what each step took\n"; printf "%s\n" "${took[@]}" "$(printf "%5d s  together" "$SECONDS")"' EXIT

# Compiles everything once with the container's linker flags, as in the Dockerfile. With an explicit target, build
# scripts and macros aren't linked statically, too.
host=$(rustc -vV | sed -n 's/^host: //p')
export CARGO_INCREMENTAL=0 CARGO_BUILD_TARGET="$host" \
  RUSTFLAGS='-C target-feature=+crt-static -C relocation-model=static --cfg getrandom_backend="linux_getrandom"'
# Documentation examples are linked with the same libraries.
export RUSTDOCFLAGS="$RUSTFLAGS"
hcoplan="${CARGO_TARGET_DIR:-$PWD/target}/$host/quick/hcoplan"

# Python with the checks' dependencies; an empty array if it can't be created.
make_python() {
  local venv="$PWD/target/venv"
  if { python3 -m venv "$venv" && "$venv/bin/pip" -q install --require-hashes --requirement .ci/requirements.txt; } >"$venv.log" 2>&1; then
    python=("$venv/bin/python")
  else
    echo "not run: checks in Python with PyYAML ($(tail -n 1 "$venv.log"))"
    python=()
  fi
}

.ci/install-builders "$PWD/target/builders"
PATH="$PWD/target/builders:$PATH"
