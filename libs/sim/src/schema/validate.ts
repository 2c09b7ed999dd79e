import { equal, isFields, isList } from "../json.ts";
import { type Cause, invalidValue, requiredValue } from "../status.ts";
import { itemKey, listKeys, propertySchema, type Schema } from "./schema.ts";

/** A fault of a value: `type` faults are those that a Go server finds while decoding. */
export interface Fault extends Cause {
  readonly field: string;
  readonly type?: true;
}

const child = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/** Every fault of a value by its schema, with the field's path. */
export function validate(value: unknown, schema: Schema | undefined, path = ""): readonly Fault[] {
  if (schema === undefined) return [];
  if (value === null && schema.nullable === true) return [];
  const typed = typeFault(value, schema, path);
  if (typed !== undefined) return [typed];
  return [
    ...scalarFaults(value, schema, path),
    ...listFaults(value, schema, path),
    ...objectFaults(value, schema, path),
    ...combinedFaults(value, schema, path),
  ];
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (isList(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function typeFault(value: unknown, schema: Schema, path: string): Fault | undefined {
  const found = typeName(value);
  const wanted = schema["x-kubernetes-int-or-string"] === true ? "integer,string" : schema.type;
  if (wanted === undefined) return undefined;
  if (wanted.split(",").includes(found) || (wanted === "number" && found === "integer")) return undefined;
  const why = `${path} in body must be of type ${wanted}: "${found}"`;
  return { ...fault(path, "FieldValueTypeInvalid", `Invalid value: "${found}": ${why}`), type: true };
}

const fault = (field: string, reason: string, message: string): Fault => ({ reason, message, field });
const wrong = (path: string, value: unknown, why: string): Fault => ({
  ...invalidValue(path, value, `${path} in body ${why}`),
  field: path,
});

function scalarFaults(value: unknown, schema: Schema, path: string): Fault[] {
  const faults: Fault[] = [];
  const refuse = (why: string): void => void faults.push(wrong(path, value, why));
  if (schema.enum !== undefined && !schema.enum.some((allowed) => equal(allowed, value))) {
    const supported = schema.enum.map((allowed) => JSON.stringify(allowed)).join(", ");
    const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`;
    faults.push(fault(path, "FieldValueNotSupported", message));
  }
  if (typeof value === "number") {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    const low = exclusiveMinimum === true ? "greater than" : "greater than or equal to";
    const high = exclusiveMaximum === true ? "less than" : "less than or equal to";
    if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum)) {
      refuse(`should be ${low} ${minimum}`);
    }
    if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum)) {
      refuse(`should be ${high} ${maximum}`);
    }
    if (multipleOf !== undefined && value % multipleOf !== 0) refuse(`should be a multiple of ${multipleOf}`);
  }
  if (typeof value === "string") {
    const { minLength = 0, maxLength = Infinity, pattern, format } = schema;
    const length = Array.from(value).length;
    if (length < minLength) refuse(`should be at least ${minLength} chars long`);
    if (length > maxLength) faults.push(tooMany(path, `may not be more than ${maxLength} bytes`, "FieldValueTooLong"));
    if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) refuse(`should match '${pattern}'`);
    if (format !== undefined && formats[format]?.(value) === false) {
      refuse(`must be of type ${format}: ${JSON.stringify(value)}`);
    }
  }
  return faults;
}

const tooMany = (path: string, why: string, reason = "FieldValueTooMany"): Fault =>
  fault(path, reason, `${reason === "FieldValueTooLong" ? "Too long" : "Too many"}: ${why}`);

const GO_DURATION = /^[-+]?(0|(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+)$/;
/** The server takes words too: `2 days`. */
const WORDED_DURATION = /^-?\s?\d+(\.\d+)?\s*(nano|micro|milli|sec|min|hr|hour|d|day|w|wk|week)s?$/;

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  "date-time": (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text)),
  duration: (text) => GO_DURATION.test(text) || WORDED_DURATION.test(text),
  uri: (text) => URL.canParse(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
};

function listFaults(value: unknown, schema: Schema, path: string): Fault[] {
  if (!isList(value)) return [];
  const { minItems = 0, maxItems = Infinity } = schema;
  const faults: Fault[] = [];
  if (value.length < minItems) faults.push(wrong(path, value.length, `should have at least ${minItems} items`));
  if (value.length > maxItems) faults.push(tooMany(path, `${value.length}: must have at most ${maxItems} items`));
  const identity = identityOf(schema);
  value.forEach((item, index) => {
    const at = `${path}[${index}]`;
    faults.push(...validate(item, schema.items, at));
    const same = (other: unknown): boolean => identity !== undefined && equal(identity(other), identity(item));
    if (identity !== undefined && value.slice(0, index).some(same)) {
      faults.push(fault(at, "FieldValueDuplicate", `Duplicate value: ${JSON.stringify(identity(item))}`));
    }
  });
  return faults;
}

/** What may occur only once in a list; undefined if everything may repeat. */
function identityOf(schema: Schema): ((item: unknown) => unknown) | undefined {
  const keys = listKeys(schema);
  if (keys !== undefined) return (item) => itemKey(item, keys, schema);
  const unique = schema["x-kubernetes-list-type"] === "set" || schema.uniqueItems === true;
  return unique ? (item) => item : undefined;
}

function objectFaults(value: unknown, schema: Schema, path: string): Fault[] {
  if (!isFields(value)) return [];
  const { minProperties = 0, maxProperties = Infinity, required = [] } = schema;
  const count = Object.keys(value).length;
  return [
    ...(count < minProperties ? [wrong(path, count, `should have at least ${minProperties} properties`)] : []),
    ...(count > maxProperties ? [tooMany(path, `must have at most ${maxProperties} items`)] : []),
    ...required
      .filter((key) => value[key] === undefined)
      .map((key) => ({ ...requiredValue(child(path, key)), field: child(path, key) })),
    ...Object.entries(value).flatMap(([key, entry]) => validate(entry, propertySchema(schema, key), child(path, key))),
  ];
}

function combinedFaults(value: unknown, schema: Schema, path: string): readonly Fault[] {
  const fits = (branch: Schema): boolean => validate(value, branch, path).length === 0;
  const { allOf = [], anyOf, oneOf, not } = schema;
  const faults = allOf.flatMap((branch) => validate(value, branch, path));
  const refuse = (why: string): number => faults.push(wrong(path, value, why));
  if (anyOf !== undefined && !anyOf.some(fits)) refuse("must validate at least one schema (anyOf)");
  if (oneOf !== undefined && oneOf.filter(fits).length !== 1) refuse("must validate one and only one schema (oneOf)");
  if (not !== undefined && fits(not)) refuse("must not validate the schema (not)");
  return faults;
}
