import { describe, expect, test } from "@jest/globals";
import { parseQueryAnswer } from "./query-answer.ts";

const success = (resultType: string, result: unknown): string =>
  JSON.stringify({ status: "success", data: { resultType, result } });

describe("the body of an answer", () => {
  test("is taken apart into samples, with at most five of its warnings", () => {
    const result = [{ metric: { site: "a" }, value: [1767225600.25, "3"] }];
    const body = {
      status: "success",
      data: { resultType: "vector", result },
      warnings: ["1", "2", "3", "4", "5", "6"],
    };
    expect(parseQueryAnswer(JSON.stringify(body))).toEqual({
      kind: "samples",
      resultType: "vector",
      samples: [{ seconds: 1767225600.25, value: "3" }],
      warnings: ["1", "2", "3", "4", "5"],
    });
    expect(parseQueryAnswer(success("scalar", [1767225600, "42"]))).toMatchObject({
      resultType: "scalar",
      samples: [{ seconds: 1767225600, value: "42" }],
    });
  });

  test("keeps the labels of samples on request, and takes no other value for one", () => {
    const result = [
      { metric: { namespace: "shop", pod: "web" }, value: [1, "3"] },
      { metric: { node: 5 }, value: [1, "4"] },
      { value: [1, "5"] },
    ];
    expect(parseQueryAnswer(success("vector", result), { labelled: true })).toMatchObject({
      samples: [{ labels: { namespace: "shop", pod: "web" } }, { labels: { node: "" } }, { labels: {} }],
    });
    const [sample] = (parseQueryAnswer(success("vector", result)) as { samples: readonly object[] }).samples;
    expect(sample).not.toHaveProperty("labels");
  });

  test("may be an error, with or without words", () => {
    expect(parseQueryAnswer('{"status":"error","errorType":"bad_data","error":"why"}')).toEqual({
      kind: "error",
      errorType: "bad_data",
      error: "why",
    });
    expect(parseQueryAnswer('{"status":"error","error":{}}')).toEqual({ kind: "error", errorType: "", error: "" });
  });

  test.each([
    ["matrix", success("matrix", [{ metric: {}, values: [[1, "1"]] }]), "matrix"],
    ["string", success("string", [1, "text"]), "string"],
    ["native histogram", success("vector", [{ metric: {}, histogram: [1, { count: "3" }] }]), "histogram"],
  ])("of a %s is no number", (_name, body, resultType) => {
    expect(parseQueryAnswer(body)).toEqual({ kind: "unfit", resultType });
  });

  test.each([
    ["nothing", ""],
    ["no JSON", "<html>Sign in</html>"],
    ["half of an answer", '{"status":"success","data":{"resultType":"vector","result":[{"metr'],
    ["a list", "[]"],
    ["null", "null"],
    ["no status", "{}"],
    ["another status", '{"status":"partial","data":{}}'],
    ["no data", '{"status":"success"}'],
    ["another type of result", success("tensor", [])],
    ["a vector that is no list", success("vector", { value: [1, "1"] })],
    ["samples that are none", success("vector", [null])],
    ["a sample without a value", success("vector", [{ metric: {} }])],
    ["a value that is a number", success("vector", [{ metric: {}, value: [1, 1] }])],
    ["a time that is a text", success("vector", [{ metric: {}, value: ["1", "1"] }])],
    ["a time beyond all calendars", success("scalar", [1e300, "1"])],
    ["a scalar that is none", success("scalar", null)],
  ])("with %s is malformed", (_name, body) => {
    expect(parseQueryAnswer(body).kind).toBe("malformed");
  });

  test("may be nested as deep as it is long", () => {
    const depth = 2 ** 19;
    expect(parseQueryAnswer("[".repeat(depth)).kind).toBe("malformed");
    expect(parseQueryAnswer("[".repeat(depth) + "]".repeat(depth)).kind).toBe("malformed");
    expect(parseQueryAnswer(`{"status":"success","data":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`).kind).toBe(
      "malformed",
    );
  });
});
