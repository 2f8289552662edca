"""A typed client (pygls, lsprotocol) against `hcoplan lsp`: every answer has to be what the protocol's
model says, diagnostics are those of `hcoplan lint`, edits make the bytes of `hcoplan fix --write`.

    client.py HCOPLAN REPOSITORY
"""

import asyncio
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

from lsprotocol import types as t
from pygls.lsp.client import LanguageClient

HCOPLAN, REPOSITORY = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
SEVERITY = {"error": 1, "warning": 2, "info": 3}


def uri(path):
    return pathlib.Path(path).resolve().as_uri()


def path(address):
    return pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(address).path))


def run(*arguments, cwd):
    done = subprocess.run([HCOPLAN, *arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode < 70, (arguments, cwd, done.stderr)
    return done.stdout


class Editor:
    """What an editor is, as far as it matters here."""

    def __init__(self):
        self.client = LanguageClient("test", "1")
        self.shown, self.log, self.version = {}, [], 0
        self.texts, self.versions = {}, {}

        @self.client.feature(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: t.PublishDiagnosticsParams):
            self.shown[path(params.uri)] = params.diagnostics

        @self.client.feature(t.WINDOW_LOG_MESSAGE)
        def logged(params: t.LogMessageParams):
            self.log.append(params.message)

        @self.client.feature(t.CLIENT_REGISTER_CAPABILITY)
        def registered(params: t.RegistrationParams):
            self.watchers = params.registrations[0].register_options

    async def start(self, folders, encoding):
        await self.client.start_io(str(HCOPLAN), "lsp", "--stdio")
        capabilities = t.ClientCapabilities(
            general=t.GeneralClientCapabilities(position_encodings=[encoding]),
            workspace=t.WorkspaceClientCapabilities(
                workspace_edit=t.WorkspaceEditClientCapabilities(document_changes=True),
                did_change_watched_files=t.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
            ),
            text_document=t.TextDocumentClientCapabilities(
                publish_diagnostics=t.PublishDiagnosticsClientCapabilities(
                    related_information=True, code_description_support=True
                ),
                code_action=t.CodeActionClientCapabilities(
                    data_support=True, resolve_support=t.ClientCodeActionResolveOptions(properties=["edit"])
                ),
            ),
        )
        result = await self.client.initialize_async(
            t.InitializeParams(
                capabilities=capabilities,
                workspace_folders=[t.WorkspaceFolder(uri=uri(f), name=f.name) for f in folders],
            )
        )
        assert result.capabilities.position_encoding == encoding, result.capabilities
        self.client.initialized(t.InitializedParams())

    def open(self, file):
        self.version += 1
        self.versions[file] = self.version
        self.texts[file] = file.read_bytes().decode()
        item = t.TextDocumentItem(uri=uri(file), language_id="yaml", version=self.version, text=self.texts[file])
        self.client.text_document_did_open(t.DidOpenTextDocumentParams(text_document=item))

    def change(self, file, text):
        self.version += 1
        self.versions[file] = self.version
        self.texts[file] = text
        document = t.VersionedTextDocumentIdentifier(uri=uri(file), version=self.version)
        whole = t.TextDocumentContentChangeWholeDocument(text=text)
        self.client.text_document_did_change(
            t.DidChangeTextDocumentParams(text_document=document, content_changes=[whole])
        )

    async def actions(self, file, only):
        return await self.client.text_document_code_action_async(
            t.CodeActionParams(
                text_document=t.TextDocumentIdentifier(uri=uri(file)),
                range=t.Range(t.Position(0, 0), t.Position(100000, 0)),
                context=t.CodeActionContext(diagnostics=[], only=only),
            )
        )

    async def hover(self, file, line, character):
        return await self.client.text_document_hover_async(
            t.HoverParams(t.TextDocumentIdentifier(uri=uri(file)), t.Position(line, character))
        )

    def applied(self, file, edit):
        """The text with an edit made, positions in characters."""
        (change,) = edit.document_changes
        assert path(change.text_document.uri) == file.resolve()
        assert change.text_document.version == self.versions[file]
        text = self.texts[file]
        starts = [0]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        at = lambda p: min(starts[min(p.line, len(starts) - 1)] + p.character, len(text))
        for e in sorted(change.edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
            text = text[: at(e.range.start)] + e.new_text + text[at(e.range.end) :]
        return text


def found(directory):
    """What `hcoplan lint` finds: file, line, column, rule, severity; and the rules whose findings are
    nowhere, which an editor shows at the beginning of the HyperConverged."""
    out = json.loads(run("lint", "--format", "json", ".", cwd=directory))
    places, nowhere = set(), set()
    for f in out["findings"]:
        if "file" in f:
            span = (f["line"], f["column"], f["endLine"], f["endColumn"])
            places.add((f["file"], *span, f["rule"], SEVERITY[f["severity"]]))
        else:
            nowhere.add(f["rule"])
    return places, nowhere


def shown(editor, directory, nowhere):
    places = set()
    for file, diagnostics in editor.shown.items():
        if file.is_relative_to(directory):
            for d in diagnostics:
                s, e = d.range.start, d.range.end
                if (s, e) == (t.Position(0, 0), t.Position(0, 0)) and d.code in nowhere:
                    continue
                name = str(file.relative_to(directory))
                places.add((name, s.line + 1, s.character + 1, e.line + 1, e.character + 1, d.code, int(d.severity)))
    return places


def fixtures(scratch):
    """Copies of the rules' bad fixtures without their annotations; each is a workspace folder."""
    copy = ["cargo", "run", "--quiet", "--profile", "quick", "--package", "hcoplan-testing", "testdata/lint", scratch / "lint"]
    subprocess.run(copy, cwd=REPOSITORY, check=True)
    out = []
    for case in sorted((scratch / "lint").glob("*/bad*")):
        to = scratch / f"{case.parent.name}+{case.name}"
        shutil.move(case, to)
        out.append(to)
    return out


async def same_as_the_command_line(scratch):
    folders = fixtures(scratch / "cases")
    mended = {}
    for folder in folders:
        copy = scratch / "mended" / folder.name
        shutil.copytree(folder, copy)
        run("fix", "--write", ".", cwd=copy)
        files = {p.relative_to(copy): p.read_bytes() for p in copy.rglob("*") if p.is_file()}
        mended[folder] = files
    editor = Editor()
    await editor.start(folders, t.PositionEncodingKind.Utf32)
    await editor.actions(folders[0] / "hyperconverged.yaml", [t.CodeActionKind.QuickFix])
    wrong = 0
    for folder in folders:
        expected, nowhere = found(folder)
        if expected != (now := shown(editor, folder, nowhere)):
            wrong += 1
            print(f"{folder.name}: lint only {sorted(expected - now)}, editor only {sorted(now - expected)}")
    assert not wrong, f"{wrong} folders are shown otherwise than lint says"
    changed = 0
    for folder in folders:
        differs = [p for p, b in mended[folder].items() if (folder / p).read_bytes() != b]
        files = sorted(p for p in folder.rglob("*") if p.suffix in (".yaml", ".json", ".yml"))
        if not differs:
            continue
        for file in files:
            editor.open(file)
        for _ in range(10):
            again = False
            for file in files:
                for action in await editor.actions(file, ["source.fixAll.hcoplan"]):
                    assert action.edit is None
                    action = await editor.client.code_action_resolve_async(action)
                    if action.edit is not None:
                        editor.change(file, editor.applied(file, action.edit))
                        again = True
            if not again:
                break
        for name, expected in mended[folder].items():
            file = folder / name
            if file in editor.texts:
                assert editor.texts[file].encode() == expected, f"{folder.name}: {name} is not what fix --write makes"
        changed += 1
    assert changed > 50, changed
    assert not editor.log, editor.log
    await editor.client.shutdown_async(None)
    editor.client.exit(None)
    await editor.client.stop()
    print(f"  {len(folders)} folders shown as lint says; {changed} mended to the bytes of fix --write")


async def hovers(scratch):
    fleet = scratch / "fleet"
    shutil.copytree(REPOSITORY / "examples/fleet", fleet)
    file = fleet / "clusters/prod-east/hyperconverged.yaml"
    editor = Editor()
    await editor.start([fleet], t.PositionEncodingKind.Utf16)
    editor.open(file)
    text = editor.texts[file]
    lines = text.split("\n")
    number = next(i for i, line in enumerate(lines) if "parallelMigrationsPerCluster" in line)
    hover = await editor.hover(file, number, 8)
    said = hover.contents.value
    assert "integer (int32)" in said and "Default of HCO 1.17: `5`" in said, said
    assert "KubeVirt `spec.configuration.migrations.parallelMigrationsPerCluster`: `10`, not `5`" in said, said
    assert hover.range.start == t.Position(number, 4), hover.range
    still, typing = [], []
    for again in range(3):
        for line, content in enumerate(lines):
            for character in {len(content) - len(content.lstrip()) + 1, max(len(content) - 1, 0)}:
                begin = time.perf_counter()
                await editor.hover(file, line, character)
                still.append((time.perf_counter() - begin) * 1000)
            # A key was hit just before.
            editor.change(file, text + f"# {line} {again}\n")
            begin = time.perf_counter()
            await editor.hover(file, line, 6)
            typing.append((time.perf_counter() - begin) * 1000)
    for name, took in (("a hover", still), ("a hover behind a key stroke", typing)):
        took.sort()
        worst = took[int(len(took) * 0.99)]
        print(f"  {name}, {len(took)} times: median {statistics.median(took):.1f} ms, 99% below {worst:.1f} ms")
    assert not editor.log, editor.log
    await editor.client.shutdown_async(None)
    editor.client.exit(None)
    await editor.client.stop()


def exit_code(*methods):
    messages = b""
    for n, method in enumerate(methods):
        message = {"jsonrpc": "2.0", "method": method}
        if method not in ("exit", "initialized"):
            message.update(id=n, params={"capabilities": {}})
        body = json.dumps(message).encode()
        messages += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    return subprocess.run([HCOPLAN, "lsp"], input=messages, capture_output=True, timeout=30).returncode


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch).resolve()
        asyncio.run(asyncio.wait_for(same_as_the_command_line(scratch), 300))
        asyncio.run(asyncio.wait_for(hovers(scratch), 120))
    codes = [exit_code("initialize", "shutdown", "exit"), exit_code("initialize", "exit"), exit_code("initialize")]
    assert codes == [0, 1, 1], codes


main()
