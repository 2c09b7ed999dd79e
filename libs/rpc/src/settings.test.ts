import { expect, test } from "@jest/globals";
import { readSettings, splitCommandLine } from "@evenkeel/runtime";
import { rpcContradictions, rpcSettings } from "./settings.ts";

function contradictions(...args: string[]): readonly string[] {
  const reading = readSettings(rpcSettings, splitCommandLine(rpcSettings, args).flags, {});
  if (!reading.ok) throw new Error(reading.faults.join("\n"));
  return rpcContradictions(reading.settings);
}

const files = ["--tls-cert-file=a.crt", "--tls-key-file=a.key"];

test.each([
  ["plaintext that is asked for", ["--insecure"]],
  ["TLS", files],
  ["mTLS", [...files, "--tls-ca-file=ca.crt", "--mtls"]],
  ["TLS for the admin port", [...files, "--admin-tls"]],
])("%s is no contradiction", (_name, args) => {
  expect(contradictions(...args)).toEqual([]);
});

test.each([
  ["nothing at all", [], "--tls-key-file"],
  ["a certificate without its key", ["--tls-cert-file=a.crt"], "--tls-key-file"],
  ["plaintext with certificates", ["--insecure", ...files], "--insecure"],
  ["plaintext with mTLS", ["--insecure", "--mtls"], "--insecure"],
  ["plaintext with TLS for the admin port", ["--insecure", "--admin-tls"], "--insecure"],
  ["mTLS without an authority", [...files, "--mtls"], "--mtls needs --tls-ca-file"],
])("%s is refused with what to change", (_name, args, fault) => {
  expect(contradictions(...args)).toEqual([expect.stringContaining(fault)]);
});
