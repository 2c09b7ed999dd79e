import { describe, expect, test } from "@jest/globals";
import { differences, disagreements, losses } from "./judge.ts";
import { digestOf } from "./requests.ts";
import type { Forwarded, Seen } from "./seen.ts";

const meant: Forwarded = {
  id: "1-0",
  method: "POST",
  path: "/a?b",
  host: "a.test",
  headers: ["Host", "a.test", "X-Kept", "yes", "Connection", "x-named", "X-Named", "no", "Cookie", "a=b"],
};
const body = Buffer.from("body");
const arrived: Seen = {
  id: "1-0",
  method: "POST",
  path: "/a?b",
  host: "a.test",
  headers: [
    ["x-fuzz-id", "1-0"],
    ["x-kept", "yes"],
    ["via", "1.1 evenkeel"],
  ],
  bytes: body.length,
  digest: digestOf(body),
  complete: true,
};

/** The judge must be able to condemn, or its silence means nothing. */
describe("the judge of what an upstream saw", () => {
  const judge = (...seen: Seen[]) => differences({ upstream: "go", forwarded: [meant], seen });

  test("finds nothing in a request that arrived as it was meant", () => {
    expect(judge(arrived)).toEqual([]);
    expect(judge()).toEqual([]);
  });

  test("knows a byte above ASCII at the edge of a value again, and misses it if it is gone", () => {
    const forwarded = [{ ...meant, headers: ["X-Kept", "\u00a0yes "] }];
    const seen = (value: string): Seen => ({ ...arrived, headers: [["x-kept", value]] });
    expect(differences({ upstream: "go", forwarded, seen: [seen("\ufffdyes")] })).toEqual([]);
    expect(differences({ upstream: "go", forwarded, seen: [seen("yes")] })).toHaveLength(2);
  });

  test.each([
    ["a request without the forwarder's mark", { id: "" }, "a request that was never forwarded: POST /a?b"],
    ["a request with a mark that was not given", { id: "1-1" }, "never forwarded"],
    ["another method", { method: "GET" }, 'method "POST" became "GET"'],
    ["another path", { path: "/a" }, 'path "/a?b" became "/a"'],
    ["another host", { host: "b.test" }, 'host "a.test" became "b.test"'],
    ["an injected header", { headers: [...arrived.headers, ["x-new", "1"] as const] }, 'never sent: "x-new: 1"'],
    ["a header twice", { headers: [...arrived.headers, ["x-kept", "yes"] as const] }, 'never sent: "x-kept: yes"'],
    ["a lost header", { headers: [] }, 'lost: "x-kept: yes"'],
  ])("finds %s", (_name, difference, words) => {
    const found = judge({ ...arrived, ...difference });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(words);
  });

  test("finds a request that arrived twice", () => {
    expect(judge(arrived, arrived)).toEqual(["go, 1-0: arrived twice"]);
  });

  test("compares the bodies of requests that both upstreams took whole, and of no others", () => {
    const other = { ...arrived, bytes: 3, digest: digestOf(Buffer.from("bod")) };
    expect(disagreements([arrived], [arrived])).toEqual({ compared: 1, found: [] });
    expect(disagreements([arrived], [other]).found).toEqual(["1-0: a body of 4 bytes for node and of 3 for Go"]);
    expect(disagreements([arrived], [{ ...other, complete: false }])).toEqual({ compared: 0, found: [] });
  });

  test("finds a well-formed request that did not arrive, or not whole, or changed", () => {
    const input = {
      kind: "valid" as const,
      bytes: body,
      meant: [{ method: "POST", path: "/a?b", digest: digestOf(body) }],
    };
    const lost = (seen?: Seen) => losses(input, 1, new Map(seen ? [[seen.id, seen]] : []));
    expect(lost(arrived)).toEqual([]);
    for (const seen of [
      undefined,
      { ...arrived, complete: false },
      { ...arrived, path: "/" },
      { ...arrived, digest: "" },
    ])
      expect(lost(seen)).toHaveLength(1);
  });
});
