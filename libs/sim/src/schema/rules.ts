import { Environment, type ParseResult } from "@marcbachmann/cel-js";
import { equal, fieldsOr, isFields, isList, listOr } from "../json.ts";
import { type Cause, invalidValue } from "../status.ts";
import { itemKey, listKeys, propertySchema, type Rule, type Schema } from "./schema.ts";

/** Nested types deeper than this are dynamic: their fields are known when a rule runs and not when it is read. */
const TYPED_DEPTH = 8;

type CelType = string | { readonly [field: string]: CelType };

/** The rules of one schema, read once. */
export class Rules {
  readonly #compiled = new Map<Schema, Map<string, ParseResult>>();

  /** What is wrong with a rule where it stands; undefined if it can be evaluated to a boolean. */
  faultOf(rule: Rule, schema: Schema): string | undefined {
    const result = environment(schema).check(rule.rule);
    if (!result.valid) return firstLine(result.error?.message ?? "it cannot be read");
    return result.type === "bool" || result.type === "dyn" ? undefined : `it gives ${String(result.type)} and no bool`;
  }

  /** Every rule that a value breaks. Rules on `oldSelf` are asked only where there is an old value. */
  check(value: unknown, old: unknown, schema: Schema | undefined, path = ""): Cause[] {
    if (schema === undefined || value === undefined || value === null) return [];
    const own = (schema["x-kubernetes-validations"] ?? []).flatMap((rule) =>
      this.#broken(rule, value, old, schema, path),
    );
    return [...own, ...this.#below(value, old, schema, path)];
  }

  #below(value: unknown, old: unknown, schema: Schema, path: string): Cause[] {
    if (isList(value)) {
      const keys = listKeys(schema);
      return value.flatMap((item, index) => {
        const before =
          keys === undefined
            ? undefined
            : listOr(old).find((other) => equal(itemKey(other, keys, schema), itemKey(item, keys, schema)));
        return this.check(item, before, schema.items, `${path}[${index}]`);
      });
    }
    return Object.entries(fieldsOr(value)).flatMap(([key, entry]) =>
      this.check(entry, fieldsOr(old)[key], propertySchema(schema, key), path === "" ? key : `${path}.${key}`),
    );
  }

  #broken(rule: Rule, value: unknown, old: unknown, schema: Schema, path: string): Cause[] {
    if (/\boldSelf\b/.test(rule.rule) && old === undefined) return [];
    const scope = { self: toCel(value, schema), ...(old === undefined ? {} : { oldSelf: toCel(old, schema) }) };
    const field = path + (rule.fieldPath ?? "");
    try {
      if (this.#read(rule.rule, schema)(scope) === true) return [];
    } catch (error) {
      return [invalidValue(field, value, `${firstLine(String(error))} evaluating rule: ${rule.rule}`)];
    }
    const message = this.#message(rule, scope, schema);
    return [{ ...invalidValue(field, value, message), reason: rule.reason ?? "FieldValueInvalid" }];
  }

  #message(rule: Rule, scope: object, schema: Schema): string {
    const otherwise = rule.message ?? `failed rule: ${rule.rule}`;
    if (rule.messageExpression === undefined) return otherwise;
    try {
      const said: unknown = this.#read(rule.messageExpression, schema)(scope);
      return typeof said === "string" && said !== "" ? said : otherwise;
    } catch {
      return otherwise;
    }
  }

  #read(expression: string, schema: Schema): ParseResult {
    let compiled = this.#compiled.get(schema);
    if (compiled === undefined) this.#compiled.set(schema, (compiled = new Map<string, ParseResult>()));
    let read = compiled.get(expression);
    if (read === undefined) compiled.set(expression, (read = environment(schema).parse(expression)));
    return read;
  }
}

function environment(schema: Schema): Environment {
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  const type = celType(schema, 0);
  for (const name of ["self", "oldSelf"]) {
    if (typeof type === "string") environment.registerVariable(name, type);
    else environment.registerVariable({ name, schema: type });
  }
  return environment;
}

function celType(schema: Schema | undefined, depth: number): CelType {
  if (schema === undefined || depth > TYPED_DEPTH || schema["x-kubernetes-int-or-string"] === true) return "dyn";
  const preserves = schema["x-kubernetes-preserve-unknown-fields"] === true;
  switch (schema.type) {
    case "integer":
      return "int";
    case "number":
      return "double";
    case "boolean":
      return "bool";
    case "string":
      return "string";
    case "array": {
      const item = celType(schema.items, depth + 1);
      return `list<${typeof item === "string" ? item : "dyn"}>`;
    }
    case "object": {
      if (preserves || schema.additionalProperties !== undefined) return "map<string, dyn>";
      const own = Object.entries(schema.properties ?? {});
      return Object.fromEntries(own.map(([key, entry]) => [key, celType(entry, depth + 1)]));
    }
    default:
      return "dyn";
  }
}

/** CEL tells whole numbers from others by their type. */
function toCel(value: unknown, schema: Schema | undefined): unknown {
  if (typeof value === "number") {
    return schema?.type !== "number" && Number.isInteger(value) ? BigInt(value) : value;
  }
  if (isList(value)) return value.map((item) => toCel(item, schema?.items));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, toCel(entry, propertySchema(schema, key))]),
  );
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
