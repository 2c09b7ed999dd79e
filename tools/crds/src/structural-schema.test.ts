import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { structuralSchema } from "./structural-schema.ts";

describe("structuralSchema", () => {
  test("drops the bounds that only say what the integer's format says", () => {
    expect(structuralSchema(z.int().meta({ format: "int64" }))).toEqual({ type: "integer", format: "int64" });
    expect(structuralSchema(z.int32().meta({ format: "int32" }))).toEqual({ type: "integer", format: "int32" });
    expect(structuralSchema(z.int32().min(0).meta({ format: "int32" }))).toEqual({
      type: "integer",
      format: "int32",
      minimum: 0,
    });
  });

  test("keeps bounds of a number, whatever they are", () => {
    expect(structuralSchema(z.number().max(Number.MAX_SAFE_INTEGER))).toEqual({
      type: "number",
      maximum: Number.MAX_SAFE_INTEGER,
    });
  });

  test("calls a choice of whole numbers an integer", () => {
    expect(structuralSchema(z.literal([200, 204]))).toEqual({ type: "integer", enum: [200, 204] });
  });

  test("requires neither optional fields nor those with a default", () => {
    const schema = z.object({ a: z.string(), b: z.string().exactOptional(), c: z.boolean().default(true) });
    expect(structuralSchema(schema)).toEqual({
      type: "object",
      required: ["a"],
      properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "boolean", default: true } },
    });
  });

  test("takes a number or text without a type", () => {
    const schema = z.unknown().meta({ maxLength: 63, "x-kubernetes-int-or-string": true });
    expect(structuralSchema(schema)).toEqual({ maxLength: 63, "x-kubernetes-int-or-string": true });
  });

  test("writes a pattern without JavaScript's escaped slash", () => {
    expect(structuralSchema(z.string().regex(/^a\/b$/))).toEqual({ type: "string", pattern: "^a/b$" });
  });

  test.each([
    ["a union", z.union([z.string(), z.number()]), "anyOf"],
    ["a strict object", z.strictObject({}), "prunes unknown fields"],
    ["a loose object", z.looseObject({}), "needs a type"],
    ["a nullable field", z.string().nullable(), "nullable"],
    ["an unknown value that nobody meant to be free", z.object({ a: z.unknown() }), "(root).a: a CRD needs a type"],
  ])("refuses %s", (_title, schema, complaint) => {
    expect(() => structuralSchema(schema)).toThrow(complaint);
  });
});
