import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { CertificateAuthority, subjectLine } from "../src/certificates.ts";

jest.setTimeout(60_000);

let folder: string;
let authority: CertificateAuthority;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "control-plane-"));
  authority = await CertificateAuthority.create(join(folder, "pki"), "test");
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const read = (file: string): X509Certificate => new X509Certificate(readFileSync(file));

describe("a client's certificate", () => {
  test("names user and groups, and is signed by the authority", async () => {
    const subject = { user: "system:serviceaccount:a/b+c\\d", groups: ["one", "two"] };
    const certificate = read((await authority.issueClient("client", subject)).certificate);
    expect(certificate.toLegacyObject().subject).toEqual({ O: ["one", "two"], CN: "system:serviceaccount:a/b+c\\d" });
    expect(certificate.verify(read(authority.files.certificate).publicKey)).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
  });

  test("has a key that only its user may read", async () => {
    const { key } = await authority.issueClient("private", { user: "u" });
    expect(statSync(key).mode & 0o777).toBe(0o600);
  });

  test("is refused with openssl's reason when a name is too long for one", async () => {
    const issue = authority.issueClient("long", { user: "u".repeat(65) });
    await expect(issue).rejects.toMatchObject({ code: "EK_CLUSTER_CERTIFICATE" });
    await expect(issue).rejects.toThrow("string too long");
  });
});

test("a server's certificate is good for its addresses and no other", async () => {
  const files = await authority.issueServer("server", ["IP:127.0.0.1", "DNS:localhost"]);
  const certificate = read(files.certificate);
  expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(certificate.checkHost("localhost")).toBe("localhost");
  expect(certificate.checkIP("127.0.0.2")).toBeUndefined();
});

test("characters with a meaning to openssl are escaped in a subject", () => {
  expect(subjectLine({ user: "a/b", groups: ["c+d", "e\\f"] })).toBe("/O=c\\+d/O=e\\\\f/CN=a\\/b");
});
