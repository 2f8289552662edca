"""What a repository's own git configuration, and the environment, could make git do."""

import os
import shutil

from _inputs import HEAD, INVENTORY

MANIFEST = HEAD + "spec: {evictionStrategy: %s}\n"


def repository(lab):
    """A repository with two commits of one cluster."""
    directory = lab.dir()
    lab.write(directory, "one/inventory.yaml", INVENTORY)
    lab.write(directory, "one/hyperconverged.yaml", MANIFEST % "LiveMigrate")
    lab.commit(directory)
    lab.write(directory, "one/hyperconverged.yaml", MANIFEST % "None")
    lab.commit(directory)
    return directory


def trap(lab):
    """A program that notes that it ran, and the note."""
    note = os.path.join(lab.dir(), "ran")
    program = lab.write(lab.dir(), "trap", f"#!/bin/sh\ntouch {note}\nexit 1\n")
    os.chmod(program, 0o755)
    return program, note


def partial(lab, origin):
    """A clone without contents, whose origin runs a trap when it is asked for them."""
    lab.git(origin, "config", "uploadpack.allowFilter", "true")
    lab.git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    clone = os.path.join(lab.dir(), "clone")
    lab.git(origin, "clone", "-q", "--filter=blob:none", f"file://{origin}", clone)
    return clone


def attack_configured_programs(lab):
    """No program that the repository's configuration names is run."""
    directory = repository(lab)
    program, note = trap(lab)
    for key in ["core.fsmonitor", "core.sshCommand", "core.pager", "core.askPass", "core.gitProxy", "diff.external",
                "credential.helper", "core.alternateRefsCommand", "core.editor", "filter.x.smudge", "filter.x.process",
                "diff.x.textconv", "uploadpack.packObjectsHook"]:
        lab.git(directory, "config", key, program)
    hooks = lab.dir()
    for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout", "pre-auto-gc"]:
        shutil.copy(program, os.path.join(hooks, hook))
    lab.git(directory, "config", "core.hooksPath", hooks)
    lab.write(directory, ".git/info/attributes", "* filter=x diff=x\n")
    if os.path.exists(note):
        os.remove(note)
    for words in [("plan", "--against", "HEAD~1"), ("lint", "--against", "HEAD~1"),
                  ("diff", "--against", "HEAD~1..HEAD"), ("diff", "--against", "HEAD~1...")]:
        done = lab.run(*words, cwd=directory)
        lab.expect(done.code in (0, 1), f"{words} works", done)
        lab.expect(not os.path.exists(note), f"{words} ran a program of the repository's", done)


def attack_environment(lab):
    """Variables of git in the environment neither run a program nor lead to another repository."""
    directory, other = repository(lab), lab.dir()
    lab.write(other, "readme", "x")
    lab.commit(other)
    program, note = trap(lab)
    environment = {
        "GIT_DIR": os.path.join(other, ".git"), "GIT_WORK_TREE": other, "GIT_INDEX_FILE": os.path.join(other, "i"),
        "GIT_OBJECT_DIRECTORY": os.path.join(other, ".git/objects"), "GIT_NAMESPACE": "x", "GIT_TRACE": os.path.join(other, "t"),
        "GIT_SSH_COMMAND": program, "GIT_PAGER": program, "GIT_ASKPASS": program, "GIT_EXTERNAL_DIFF": program,
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": program,
    }
    done = lab.run("lint", "--against", "HEAD~1", cwd=directory, env=environment)
    lab.expect(done.code == 0 and "new" not in done.err, "the directory's own repository is asked", done)
    lab.expect(not os.path.exists(note), "a variable made git run a program", done)
    lab.expect(not os.path.exists(os.path.join(other, "t")), "a variable made git write a file", done)


def attack_lazy_fetch(lab):
    """A partial clone fetches nothing, although its configuration allows every protocol: neither by a remote helper."""
    clone = partial(lab, repository(lab))
    program, note = trap(lab)
    lab.git(clone, "config", "protocol.allow", "always")
    lab.git(clone, "config", "protocol.ext.allow", "always")
    lab.git(clone, "config", "remote.origin.url", f"ext::{program}")
    done = lab.run("lint", "--against", "HEAD~1", cwd=clone)
    lab.expect(not os.path.exists(note), "a fetch ran a program", done)


def attack_lazy_fetch_of_an_old_git(lab):
    """The same with a git that doesn't know GIT_NO_LAZY_FETCH."""
    clone = partial(lab, repository(lab))
    program, note = trap(lab)
    lab.git(clone, "config", "protocol.ext.allow", "always")
    lab.git(clone, "config", "remote.origin.url", f"ext::{program}")
    old = lab.dir()
    wrapper = lab.write(old, "git", f"#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {shutil.which('git')} \"$@\"\n")
    os.chmod(wrapper, 0o755)
    done = lab.run("lint", "--against", "HEAD~1", cwd=clone, env={"PATH": f"{old}:{os.environ['PATH']}"})
    lab.expect(not os.path.exists(note), "a fetch ran a program", done)
    lab.expect(done.code == 2 and "--refetch" in done.err, "what is missing is an error with its remedy", done)


def attack_missing_contents(lab):
    """Contents that a partial clone lacks are an error that names the remedy, never a new cluster."""
    origin = repository(lab)
    clone = partial(lab, origin)
    for words in [("lint", "--against", "HEAD~1"), ("plan", "--against", "HEAD~1"), ("diff", "--against", "HEAD~1")]:
        done = lab.run(*words, cwd=clone)
        lab.expect(done.code == 2 and "git fetch --refetch --no-filter" in done.err, f"{words} names the remedy", done)
        lab.expect("new" not in done.out + done.err, f"{words} takes it for a new cluster", done)
    lab.git(clone, "fetch", "-q", "--refetch", "--no-filter")
    done = lab.run("lint", "--against", "HEAD~1", cwd=clone)
    lab.expect(done.code == 0, "the remedy works", done)


def attack_shallow_clone(lab):
    """A base revision that a shallow clone lacks is an error that names the remedy."""
    origin = repository(lab)
    clone = os.path.join(lab.dir(), "clone")
    lab.git(origin, "clone", "-q", "--depth", "1", f"file://{origin}", clone)
    done = lab.run("lint", "--against", "HEAD~1", cwd=clone)
    lab.expect(done.code == 2 and "git fetch --unshallow" in done.err, "it names the remedy", done)


def attack_bare_repository_in_a_checkout(lab):
    """Files that look like a bare repository are files, whatever their configuration says."""
    directory = repository(lab)
    program, note = trap(lab)
    bare = os.path.join(directory, "one")
    lab.git(directory, "init", "-q", "--bare", bare)
    lab.git(bare, "config", "core.bare", "false")
    lab.git(bare, "config", "core.worktree", directory)
    lab.git(bare, "config", "core.fsmonitor", program)
    for words in [("lint", "--against", "HEAD~1"), ("plan",), ("diff",)]:
        done = lab.run(*words, cwd=bare)
        lab.expect(not os.path.exists(note), f"{words} ran a program of the checkout's", done)
        if "--against" in words:
            lab.expect(done.code == 0 and "new" not in done.err, "the repository around it is asked", done)
