import { describe, expect, test } from "@jest/globals";
import type { Identity } from "../identity.ts";
import { IMPERSONATION, readIdentity, REMOTE, writeIdentity } from "./identity-headers.ts";

const alice: Identity = {
  user: "alice",
  uid: "7",
  groups: ["dev", "ops: 大阪"],
  extra: { "authentication.kubernetes.io/credential-id": ["JTI=1"], scopes: ["a", "b"] },
};

test("an identity is written as kube-apiserver reads it", () => {
  expect(writeIdentity(IMPERSONATION, alice)).toEqual([
    ...["impersonate-user", "alice", "impersonate-group", "dev"],
    ...["impersonate-group", Buffer.from("ops: 大阪").toString("latin1"), "impersonate-uid", "7"],
    ...["impersonate-extra-authentication.kubernetes.io%2Fcredential-id", "JTI=1"],
    ...["impersonate-extra-scopes", "a", "impersonate-extra-scopes", "b"],
  ]);
});

test.each([IMPERSONATION, REMOTE])("an identity that is written is read back whole: $user", (names) => {
  expect(readIdentity(names, writeIdentity(names, alice))).toEqual(alice);
  const upper = writeIdentity(names, alice).map((text, index) => (index % 2 === 0 ? text.toUpperCase() : text));
  expect(readIdentity(names, upper)).toEqual(alice);
});

describe("headers of an identity", () => {
  test.each([
    ["nothing", ["accept", "*/*"], "none"],
    ["a group alone", ["impersonate-group", "dev"], "fault"],
    ["a uid alone", ["Impersonate-Uid", "7"], "fault"],
    ["an extra alone", ["impersonate-extra-scopes", "a"], "fault"],
    ["two users", ["impersonate-user", "a", "Impersonate-User", "b"], "fault"],
    ["an empty user", ["impersonate-user", ""], "fault"],
    ["bytes that are no text", ["impersonate-user", "\xff"], "fault"],
  ])("with %s are %s", (_what, headers, expected) => {
    const read = readIdentity(IMPERSONATION, headers);
    expect(typeof read === "object" && "fault" in read ? "fault" : read).toBe(expected);
  });

  test.each<[string, Partial<Identity>]>([
    ["white space at the end, which servers cut", { user: "admin " }],
    ["white space at the start", { groups: [" system:masters"] }],
    ["a line break", { user: "a\r\nx-remote-group: system:masters" }],
    ["an empty group", { groups: [""] }],
    ["a control character in an extra", { extra: { a: ["b\u0000"] } }],
  ])("are never written with %s", (_what, part) => {
    expect(() => writeIdentity(REMOTE, { ...alice, ...part })).toThrow(
      expect.objectContaining({ code: "EK_PROXY_UNSENDABLE_IDENTITY" }),
    );
  });
});
