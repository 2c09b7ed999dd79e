import { describe, expect, test } from "@jest/globals";
import { assignPorts, parsePortRange, portRangeContradictions } from "./port-range.ts";

const range = { first: 20_000, last: 20_003 };
const given = (taken: readonly (readonly [string, number])[], ...wanted: readonly string[]) => [
  ...assignPorts(range, new Map(taken), wanted),
];

describe("the ports of Services", () => {
  test("are the lowest that are free", () => {
    expect(given([["a/x/http", 20_001]], "a/y/http", "a/y/admin")).toEqual([
      ["a/y/http", 20_000],
      ["a/y/admin", 20_002],
    ]);
  });

  test("stay as recorded when lower ones become free", () => {
    expect(given([["a/x/http", 20_002]], "a/x/http", "a/x/admin")).toEqual([
      ["a/x/http", 20_002],
      ["a/x/admin", 20_000],
    ]);
  });

  test("go to the older of two objects that have the same on record", () => {
    const taken = [
      ["a/old/http", 20_000],
      ["a/young/http", 20_000],
    ] as const;
    expect(given(taken, "a/old/http")).toEqual([["a/old/http", 20_000]]);
    expect(given(taken, "a/young/http")).toEqual([["a/young/http", 20_001]]);
  });

  test("are new where the one on record is outside of the range", () => {
    expect(given([["a/x/http", 8080]], "a/x/http")).toEqual([["a/x/http", 20_000]]);
  });

  test("are the same for the same key, however often it is asked for", () => {
    expect(given([], "a/x/http", "a/x/http", "a/x/admin")).toEqual([
      ["a/x/http", 20_000],
      ["a/x/admin", 20_001],
    ]);
  });

  test("can be all in use, which is said with the range", () => {
    const taken = [0, 1, 2, 3].map((n) => [`a/x/${n}`, 20_000 + n] as const);
    expect(() => given(taken, "a/y/http")).toThrow(
      expect.objectContaining({ code: "EK_RESOLVER_PORTS_EXHAUSTED", message: expect.stringContaining("20000-20003") }),
    );
    expect(given(taken, "a/x/3")).toEqual([["a/x/3", 20_003]]);
  });
});

describe("a range of ports", () => {
  test("has two ends that belong to it, which may be the same", () => {
    expect(parsePortRange("20000-20999")).toEqual({ first: 20_000, last: 20_999 });
    expect(parsePortRange("1-1")).toEqual({ first: 1, last: 1 });
  });

  test.each(["", "20000", "20000-", "20999-20000", "0-5", "1-65536", "a-b", "1-2-3", " 1-2", "1 - 2"])(
    "is not %j",
    (text) => {
      expect(parsePortRange(text)).toBeUndefined();
      expect(portRangeContradictions(text, {})).toEqual([expect.stringMatching(/--port-range/)]);
    },
  );

  test("contains none of the program's own ports", () => {
    expect(portRangeContradictions("8000-8080", { "--port": 8012, "--admin-port": 8080, "--rpc-port": 9090 })).toEqual([
      expect.stringContaining("--port 8012"),
      expect.stringContaining("--admin-port 8080"),
    ]);
  });
});
