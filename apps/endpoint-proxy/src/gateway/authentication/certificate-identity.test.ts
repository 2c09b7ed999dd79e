import { X509Certificate } from "node:crypto";
import { expect, test } from "@jest/globals";
import { TestAuthority } from "../testing/test-authority.ts";
import { identityOfCertificate } from "./certificate-identity.ts";

test("a certificate's common name is the user, its organizations are the groups, and its hash is noted", () => {
  using authority = new TestAuthority();
  const { cert } = authority.issue({ name: "alice", organizations: ["dev", "a\\/CN=root"] });
  const certificate = new X509Certificate(cert);
  expect(identityOfCertificate(certificate)).toEqual({
    user: "alice",
    uid: undefined,
    groups: ["dev", "a/CN=root", "system:authenticated"],
    extra: {
      "authentication.kubernetes.io/credential-id": [
        expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/) as unknown as string,
      ],
    },
  });
});
