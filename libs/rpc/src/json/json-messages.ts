import {
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { explain } from "@evenkeel/runtime";
import { BadRequest } from "../errors.ts";
import { descriptors } from "../generated/descriptors.ts";

/** A query parameter as fastify gives it. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

/**
 * Turns JSON into messages and back, strictly by the protos' JSON mapping:
 * https://protobuf.dev/programming-guides/json/
 */
export class JsonMessages {
  readonly #registry: FileRegistry = createFileRegistry(
    fromBinary(FileDescriptorSetSchema, Buffer.from(descriptors, "base64")),
  );

  /** The method `name` of the service `fullName`. */
  method(fullName: string, name: string): DescMethod {
    const method = this.#registry.getService(fullName)?.methods.find((candidate) => candidate.name === name);
    if (!method) throw new TypeError(`${fullName}/${name} is in no proto of this package`);
    return method;
  }

  /** The bytes of a request; a body that does not fit is a `BadRequest`. */
  request(method: DescMethod, json: unknown): Uint8Array {
    try {
      return toBinary(method.input, fromJson(method.input, json as JsonValue, { registry: this.#registry }));
    } catch (cause) {
      throw new BadRequest({ method: method.name, fault: explain(cause) }, { cause });
    }
  }

  /** Fields that are zero or empty are written out; those that can be absent, and are, are not. */
  response(method: DescMethod, bytes: Uint8Array): JsonValue {
    const message = fromBinary(method.output, bytes);
    return toJson(method.output, message, { alwaysEmitImplicit: true, registry: this.#registry });
  }
}

/** A request in query parameters: one for each field that is no message, repeated for lists. */
export function jsonOfQuery(method: DescMethod, query: Query): JsonObject {
  const json: JsonObject = {};
  for (const [name, value] of Object.entries(query)) {
    const field = fieldOf(method.input, name);
    if (!field)
      throw new BadRequest({ method: method.name, fault: `it has no field ${JSON.stringify(name.slice(0, 80))}` });
    const scalar = field.fieldKind === "list" ? field.scalar : field.fieldKind === "scalar" ? field.scalar : undefined;
    const texts = typeof value === "string" ? [value] : value;
    const values = scalar === ScalarType.BOOL ? texts.map(booleanOf) : [...texts];
    const [only, ...rest] = values;
    if (field.fieldKind !== "list" && (only === undefined || rest.length > 0)) {
      throw new BadRequest({ method: method.name, fault: `${name} is given more than once` });
    }
    json[name] = field.fieldKind === "list" ? values : (only ?? null);
  }
  return json;
}

function fieldOf(message: DescMessage, name: string): DescMessage["fields"][number] | undefined {
  return message.fields.find((field) => field.jsonName === name || field.name === name);
}

/** What is neither stays a text, for the parser to refuse. */
function booleanOf(text: string): boolean | string {
  return text === "true" ? true : text === "false" ? false : text;
}
