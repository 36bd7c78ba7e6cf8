# SPDX-License-Identifier: MIT
class Ingot < Formula
  desc "Read, check, edit, convert and quantize GGUF model files"
  homepage "@URL@"
  version "@VERSION@"
  license "MIT"

  depends_on :linux

  on_intel do
    url "@URL@/@X86_64_ARCHIVE@"
    sha256 "@X86_64_SHA256@"
  end
  on_arm do
    url "@URL@/@AARCH64_ARCHIVE@"
    sha256 "@AARCH64_SHA256@"
  end

  def install
    prefix.install Dir["*"]
  end

  test do
    system bin/"ingot", "sample", "model.gguf"
    system bin/"ingot", "check", "--data", "model.gguf"
  end
end
