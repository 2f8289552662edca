# Written by hcoplan's release workflow.
class Hcoplan < Formula
  desc "Offline plan for KubeVirt's HyperConverged Cluster Operator"
  homepage "https://github.com/hcoplan/hcoplan"
  version "@version@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/hcoplan/hcoplan/releases/download/v@version@/hcoplan-aarch64-apple-darwin.tar.gz"
      sha256 "@sha256 hcoplan-aarch64-apple-darwin.tar.gz@"
    end
    on_intel do
      url "https://github.com/hcoplan/hcoplan/releases/download/v@version@/hcoplan-x86_64-apple-darwin.tar.gz"
      sha256 "@sha256 hcoplan-x86_64-apple-darwin.tar.gz@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/hcoplan/hcoplan/releases/download/v@version@/hcoplan-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@sha256 hcoplan-aarch64-unknown-linux-gnu.tar.gz@"
    end
    on_intel do
      url "https://github.com/hcoplan/hcoplan/releases/download/v@version@/hcoplan-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@sha256 hcoplan-x86_64-unknown-linux-gnu.tar.gz@"
    end
  end

  def install
    bin.install "hcoplan"
    generate_completions_from_executable(bin/"hcoplan", "completions")
    system bin/"hcoplan", "man", man1
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/hcoplan --version")
    assert_match "jsonpatch-present", shell_output("#{bin}/hcoplan lint --list")
  end
end
