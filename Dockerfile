# The static binary and nothing else: no shell, no libc, no user database.
#
#   docker build .                              builds the binary
#   docker build --build-arg BINARY=released .  takes dist/<architecture>/hcoplan, as a release has built them
ARG BINARY=built

FROM docker.io/library/rust:1.95-bookworm@sha256:6258907abe69656e41cd992e0b705cdcfabcbbe3db374f92ed2d47121282d4a1 AS built
WORKDIR /src
COPY . .
# Random numbers come from the kernel, not from /dev/urandom, which an empty root does not have. At a
# fixed address nothing has to be patched at each start.
ENV RUSTFLAGS="-C target-feature=+crt-static -C relocation-model=static --cfg getrandom_backend=\"linux_getrandom\""
# With a target named, build scripts and macros are not linked statically, too.
RUN host="$(rustc -vV | sed -n 's/^host: //p')" \
 && cargo build --release --locked --target "$host" \
 && cp "target/$host/release/hcoplan" /hcoplan

FROM scratch AS released
ARG TARGETARCH
COPY dist/${TARGETARCH}/hcoplan /hcoplan

FROM ${BINARY} AS binary

FROM scratch
COPY --from=binary /hcoplan /hcoplan
USER 999:999
WORKDIR /src
ENTRYPOINT ["/hcoplan"]
CMD ["--help"]
