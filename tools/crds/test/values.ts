/** Random values that mostly fit a structural schema, and now and then do not. */
import fc from "fast-check";
import type { StructuralSchema } from "../src/index.ts";

const OUT_OF_PLACE = ["text", "", 0, -1, 1.5, true, [], ["text"], {}, { text: "text" }];

/** Text that is right for a format or pattern; without one any text will do. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  "date-time": ["2026-11-01T00:00:00Z", "2024-02-29T23:59:59.999+09:00"],
  duration: ["15m", "1h30m", "0", "-1s", "2 days"],
  pattern: ["Ready", "a", "Not ready", "example.com/Ready", ""],
};

export function valueFor(schema: StructuralSchema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 150, arbitrary: fitting(schema) },
    { weight: 1, arbitrary: fc.constantFrom(...OUT_OF_PLACE) },
  );
}

function fitting(schema: StructuralSchema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.type === undefined) return fc.jsonValue({ maxDepth: 2 }).filter((value) => value !== null);
  return OF_TYPE[schema.type](schema);
}

const OF_TYPE: Readonly<
  Record<NonNullable<StructuralSchema["type"]>, (schema: StructuralSchema) => fc.Arbitrary<unknown>>
> = {
  boolean: () => fc.boolean(),
  string: text,
  integer: (schema) =>
    numbers(schema, fc.integer({ min: schema.minimum ?? -1000, max: schema.maximum ?? (schema.minimum ?? 0) + 1000 })),
  number: (schema) =>
    numbers(schema, fc.double({ min: schema.minimum ?? -10, max: schema.maximum ?? 10, noNaN: true })),
  array: list,
  object,
};

function text({ format, pattern, maxLength = 40 }: StructuralSchema): fc.Arbitrary<string> {
  const samples = SAMPLES[format ?? (pattern === undefined ? "" : "pattern")];
  if (samples) return fc.constantFrom(...samples);
  return fc.oneof(
    { weight: 200, arbitrary: fc.string({ maxLength: 10, unit: "grapheme" }) },
    { weight: 1, arbitrary: fc.constantFrom("🙂".repeat(maxLength), "🙂".repeat(maxLength + 1)) },
  );
}

function numbers({ minimum, maximum }: StructuralSchema, inside: fc.Arbitrary<number>): fc.Arbitrary<number> {
  const edges = [
    minimum ?? 0,
    (minimum ?? 0) - 1,
    maximum ?? 2 ** 31 - 1,
    (maximum ?? 2 ** 31 - 1) + 1,
    -(2 ** 31) - 1,
  ];
  return fc.oneof({ weight: 100, arbitrary: inside }, { weight: 1, arbitrary: fc.constantFrom(...edges) });
}

function list({ items = {}, minItems = 0, maxItems = 1000 }: StructuralSchema): fc.Arbitrary<unknown> {
  const item = valueFor(items);
  return fc.oneof(
    { weight: 100, arbitrary: fc.array(item, { minLength: minItems, maxLength: minItems + 2 }) },
    { weight: 1, arbitrary: fc.constant([]) },
    ...(maxItems < 1000
      ? [{ weight: 1, arbitrary: fc.array(item, { minLength: maxItems, maxLength: maxItems + 1 }) }]
      : []),
  );
}

function object({ properties, additionalProperties, required = [] }: StructuralSchema): fc.Arbitrary<unknown> {
  if (additionalProperties)
    return fc.dictionary(
      fc.string({ minLength: 1, maxLength: 8 }).filter((key) => key !== "__proto__"),
      valueFor(additionalProperties),
      { maxKeys: 3 },
    );
  const fields = Object.entries(properties ?? {}).map(([name, field]) => {
    const absent = required.includes(name) ? 1 : 30;
    const present = required.includes(name) ? 150 : 70;
    return fc.oneof(
      { weight: present, arbitrary: valueFor(field).map((value) => [name, value] as const) },
      { weight: absent, arbitrary: fc.constant(undefined) },
    );
  });
  return fc.tuple(...fields).map((entries) => Object.fromEntries(entries.filter((entry) => entry !== undefined)));
}
