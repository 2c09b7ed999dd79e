import { type Json, parseJson, type Path, without, withValue, writeJson } from "./json-text.ts";
import { type BodyValue, removeIn, setIn, viewOf } from "./protobuf-edit.ts";
import { type MessageSchema, schemaOf } from "./protobuf-schema.ts";
import { bytesField, ProtobufFault, readFields } from "./protobuf-wire.ts";
import { parseYaml } from "./yaml-text.ts";

export interface EncodedBody {
  readonly contentType: string;
  readonly body: Buffer;
}

/** An object in the body of a request. An edit gives a new one and leaves all else as it was sent. */
export interface ObjectBody {
  /** What it says. Of protobuf only what the schema names. */
  readonly view: Json;
  set(path: Path, value: BodyValue): ObjectBody;
  remove(path: Path): ObjectBody;
  encode(): EncodedBody;
}

export const JSON_TYPE = "application/json";
const YAML_TYPE = "application/yaml";
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";

/** A content type in which no object can be read. */
export class UnknownContentType extends Error {
  readonly contentType: string;

  constructor(contentType: string) {
    super(`content type ${JSON.stringify(contentType)} is not supported; send JSON, YAML or protobuf`);
    this.contentType = contentType;
  }
}

export function mediaType(contentType: string | undefined): string {
  return (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Throws a SyntaxError that names the place if it cannot be parsed, or UnknownContentType. */
export function parseObject(kind: string, contentType: string | undefined, body: Buffer): ObjectBody {
  switch (mediaType(contentType)) {
    case "":
    case JSON_TYPE:
      return new JsonBody(parseJson(body.toString()));
    case YAML_TYPE:
      return new JsonBody(parseYaml(body.toString()));
    case PROTOBUF_TYPE:
      return new ProtobufBody(schemaOf(kind), ...unwrapped(body));
    default:
      throw new UnknownContentType(contentType ?? "");
  }
}

export class JsonBody implements ObjectBody {
  readonly view: Json;

  constructor(json: Json) {
    this.view = json;
  }

  set(path: Path, value: BodyValue): JsonBody {
    return new JsonBody(withValue(this.view, path, value));
  }

  remove(path: Path): JsonBody {
    return new JsonBody(without(this.view, path));
  }

  encode(): EncodedBody {
    return { contentType: JSON_TYPE, body: Buffer.from(writeJson(this.view)) };
  }
}

/** "k8s" and a zero, then runtime.Unknown with the object in field 2. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const RAW = 2;

function unwrapped(body: Buffer): [envelope: Buffer, raw: Buffer] {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) throw new ProtobufFault("no Kubernetes envelope", 0);
  const envelope = body.subarray(MAGIC.length);
  const raw = readFields(envelope).findLast(({ number }) => number === RAW)?.content;
  return [envelope, raw ?? Buffer.alloc(0)];
}

class ProtobufBody implements ObjectBody {
  readonly view: Json;
  readonly #schema: MessageSchema;
  readonly #envelope: Buffer;
  readonly #raw: Buffer;

  constructor(schema: MessageSchema, envelope: Buffer, raw: Buffer) {
    this.#schema = schema;
    this.#envelope = envelope;
    this.#raw = raw;
    this.view = viewOf(raw, schema);
  }

  set(path: Path, value: BodyValue): ProtobufBody {
    return new ProtobufBody(this.#schema, this.#envelope, setIn(this.#raw, this.#schema, path, value));
  }

  remove(path: Path): ProtobufBody {
    return new ProtobufBody(this.#schema, this.#envelope, removeIn(this.#raw, this.#schema, path));
  }

  encode(): EncodedBody {
    const others = readFields(this.#envelope).filter(({ number }) => number !== RAW);
    const body = Buffer.concat([MAGIC, ...others.map(({ whole }) => whole), bytesField(RAW, this.#raw)]);
    return { contentType: PROTOBUF_TYPE, body };
  }
}
