import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { exactlyOneOf, withRules } from "./rule.ts";

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
      minProperties: 1,
      maxProperties: 1,
      "x-kubernetes-validations": [
        {
          rule: "[has(self.red), has(self.green), has(self.blue)].exists_one(set, set)",
          message: "exactly one of red, green, blue must be set",
        },
      ],
    });
  });
});
