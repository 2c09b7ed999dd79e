import { z } from "zod";

/**
 * A refinement across fields, written once for both who check it: a service through `holds`, the API server through
 * `cel`. The two must agree on every value that has the right types.
 */
export interface Rule<Value> {
  /**
   * CEL over `self`. Only has, all, exists_one, matches, size, comparison and arithmetic, which JavaScript evaluators
   * know too.
   */
  readonly cel: string;
  readonly holds: (value: Value) => boolean;
  /** What is expected, as a user reads it. */
  readonly message: string;
  /**
   * The field of `self` to blame, such as `low` or `range.low`; no index of a list. Without it the object itself is
   * blamed.
   */
  readonly field?: string;
}

/** One entry of x-kubernetes-validations. */
interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

/** The schema with the rules on it; rules that it had already stay. */
export function withRules<Schema extends z.ZodObject>(
  schema: Schema,
  ...rules: readonly Rule<z.output<Schema>>[]
): Schema {
  const before = schema.meta()?.["x-kubernetes-validations"] as readonly CelRule[] | undefined;
  let refined = schema;
  for (const { holds, message, field } of rules) {
    refined = refined.refine(holds, { error: message, path: field === undefined ? [] : field.split("."), when });
  }
  return refined.meta({ "x-kubernetes-validations": [...(before ?? []), ...rules.map(celRule)] });
}

/** As in the API server, no rule is asked about a value whose fields are wrong by themselves: one fault, one line. */
function when({ issues }: z.core.ParsePayload): boolean {
  return issues.every(({ code }) => code === "custom");
}

function celRule({ cel, message, field }: Rule<never>): CelRule {
  return { rule: cel, message, ...(field === undefined ? {} : { fieldPath: `.${field}` }) };
}

/**
 * Text that all the patterns match. An API server that refuses by CEL says `message`, where one that refuses by a
 * pattern shows the pattern. CEL is budgeted by the longest text there may be, so the schema must have a maxLength.
 * Patterns keep to what JavaScript and RE2 read alike.
 */
export function matching(schema: z.ZodString, message: string, ...patterns: readonly RegExp[]): z.ZodString {
  const sources = patterns.map(({ source }) => JSON.stringify(source.replaceAll("\\/", "/")));
  const rule = { rule: sources.map((source) => `self.matches(${source})`).join(" && "), message };
  return schema
    .refine((text) => patterns.every((pattern) => pattern.test(text)), { error: message, when })
    .meta({ "x-kubernetes-validations": [rule] });
}

type OneOf<Options extends z.core.$ZodLooseShape> = z.ZodObject<{
  [Name in keyof Options]: z.ZodExactOptional<Options[Name]>;
}>;

/**
 * An object of which exactly one field is set. By CEL alone: an API server that counts properties names none of them.
 */
export function exactlyOneOf<const Options extends Readonly<Record<string, z.ZodType>>>(
  options: Options,
): OneOf<Options> {
  const names = Object.keys(options);
  const shape = Object.fromEntries(Object.entries(options).map(([name, option]) => [name, option.exactOptional()]));
  return withRules(z.object(shape), {
    cel: `[${names.map((name) => `has(self.${name})`).join(", ")}].exists_one(set, set)`,
    holds: (value) => names.filter((name) => Object.hasOwn(value, name)).length === 1,
    message: `exactly one of ${names.join(", ")} must be set`,
  }) as unknown as OneOf<Options>;
}
