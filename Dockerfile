# The static binary and nothing else: no shell, no libc, no user database.
FROM docker.io/library/rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
# Random numbers come from the kernel, not from /dev/urandom, which an empty root does not have. At a
# fixed address nothing has to be patched at each start.
ENV RUSTFLAGS="-C target-feature=+crt-static -C relocation-model=static --cfg getrandom_backend=\"linux_getrandom\""
# With a target named, build scripts and macros are not linked statically, too.
RUN host="$(rustc -vV | sed -n 's/^host: //p')" \
 && cargo build --release --locked --target "$host" \
 && cp "target/$host/release/hcoplan" /hcoplan

FROM scratch
COPY --from=build /hcoplan /hcoplan
USER 999:999
WORKDIR /src
ENTRYPOINT ["/hcoplan"]
CMD ["--help"]
