import { checkName } from "./arguments.ts";

/** What belongs to the service as a whole is kept under this word instead of an object's uid. */
export const SERVICE_OBJECT = "service";

/**
 * Where a service's data lies in Redis: `evenkeel:<service>:{<object>}:<part>`. The braces are literal: Redis Cluster
 * hashes only what is between them, so that all keys of an object share a slot. Names are checked first, since a brace
 * in one would move the tag.
 *
 *     …:records        hash    record name → "<version> <json>"
 *     …:fences         hash    scope → highest token
 *     …:counts         hash    replica → "<end in ms of Redis's clock> <json>"
 *     …:streams        set     names of the object's streams, for `forget`
 *     …:stream:<name>  stream  entries with the one field `text`
 *     …:edge:<topic>   channel
 *     …:probe          string  written while Redis refuses writes, until it takes one
 */
export class Keys {
  readonly #service: string;

  constructor(service: string) {
    this.#service = checkName("service", service);
  }

  records(object: string): string {
    return this.#key(object, "records");
  }

  fences(object: string): string {
    return this.#key(object, "fences");
  }

  counts(object: string): string {
    return this.#key(object, "counts");
  }

  streams(object: string): string {
    return this.#key(object, "streams");
  }

  stream(object: string, stream: string): string {
    return this.#key(object, `stream:${checkName("stream", stream)}`);
  }

  edge(object: string, topic: string): string {
    return this.#key(object, `edge:${checkName("topic", topic)}`);
  }

  probe(): string {
    return this.#key(SERVICE_OBJECT, "probe");
  }

  #key(object: string, part: string): string {
    return `evenkeel:${this.#service}:{${checkName("object", object)}}:${part}`;
  }
}
