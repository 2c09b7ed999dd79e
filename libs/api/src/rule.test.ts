import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { boundedText } from "./field.ts";
import { exactlyOneOf, matching, withRules } from "./rule.ts";

describe("withRules", () => {
  const range = withRules(
    z.object({ least: z.number(), most: z.number() }),
    {
      cel: "self.least <= self.most",
      holds: ({ least, most }) => least <= most,
      message: "least must not exceed most",
      field: "least",
    },
    { cel: "self.most < 100.0", holds: ({ most }) => most < 100, message: "the range must end below 100" },
  );

  test("takes what every rule holds for", () => {
    expect(range.safeParse({ least: 1, most: 2 }).success).toBe(true);
  });

  test("blames the rule's field, or else the object", () => {
    expect(range.safeParse({ least: 200, most: 100 }).error?.issues).toMatchObject([
      { path: ["least"], message: "least must not exceed most" },
      { path: [], message: "the range must end below 100" },
    ]);
  });

  test("carries the same rules as CEL", () => {
    expect(range.meta()).toEqual({
      "x-kubernetes-validations": [
        { rule: "self.least <= self.most", message: "least must not exceed most", fieldPath: ".least" },
        { rule: "self.most < 100.0", message: "the range must end below 100" },
      ],
    });
  });

  test("adds to the rules that are there", () => {
    const stricter = withRules(range, {
      cel: "self.least > 0.0",
      holds: ({ least }) => least > 0,
      message: "positive",
    });
    expect(stricter.meta()?.["x-kubernetes-validations"]).toHaveLength(3);
    expect(stricter.safeParse({ least: 0, most: 200 }).error?.issues).toHaveLength(2);
  });
});

test("a rule blames a field within a field by its path", () => {
  const nested = withRules(z.object({ range: z.object({ least: z.number() }) }), {
    cel: "self.range.least > 0.0",
    holds: ({ range }) => range.least > 0,
    message: "expected more than 0",
    field: "range.least",
  });
  expect(nested.safeParse({ range: { least: 0 } }).error?.issues).toMatchObject([{ path: ["range", "least"] }]);
  expect(nested.meta()).toMatchObject({ "x-kubernetes-validations": [{ fieldPath: ".range.least" }] });
});

test("a rule is not asked about fields that are wrong by themselves", () => {
  const whole = withRules(z.object({ count: z.int() }), {
    cel: "self.count > 0",
    holds: ({ count }) => count > 0,
    message: "expected more than 0",
  });
  expect(whole.safeParse({ count: -0.5 }).error?.issues).toMatchObject([{ code: "invalid_type", path: ["count"] }]);
});

describe("matching", () => {
  const path = matching(boundedText(9), "expected a path with a digit", /^\/[a-z0-9/]*$/, /[0-9]/);

  test("takes text that every pattern matches", () => {
    expect(path.safeParse("/a/1").success).toBe(true);
  });

  test.each(["a1", "/a", "/a1\n", ""])("refuses %j", (text) => {
    expect(path.safeParse(text).error?.issues).toMatchObject([{ message: "expected a path with a digit" }]);
  });

  test("says the same as CEL, and keeps the bound that CEL's budget needs", () => {
    expect(path.meta()).toEqual({
      maxLength: 9,
      "x-kubernetes-validations": [
        { rule: 'self.matches("^/[a-z0-9/]*$") && self.matches("[0-9]")', message: "expected a path with a digit" },
      ],
    });
  });
});

describe("exactlyOneOf", () => {
  const choice = exactlyOneOf({ red: z.object({}), green: z.object({}), blue: z.object({ shade: z.string() }) });

  test.each([[{ red: {} }], [{ green: {} }], [{ blue: { shade: "sky" } }], [{ red: {}, unheardOf: {} }]])(
    "takes %j",
    (value) => {
      expect(choice.safeParse(value).success).toBe(true);
    },
  );

  test.each([[{}], [{ red: {}, green: {} }], [{ unheardOf: {} }]])("refuses %j", (value) => {
    expect(choice.safeParse(value).error?.issues).toMatchObject([
      { path: [], message: "exactly one of red, green, blue must be set" },
    ]);
  });

  test("says the same as CEL", () => {
    expect(choice.meta()).toEqual({
      "x-kubernetes-validations": [
        {
          rule: "[has(self.red), has(self.green), has(self.blue)].exists_one(set, set)",
          message: "exactly one of red, green, blue must be set",
        },
      ],
    });
  });
});
