import type { KubeObject } from "../src/index.ts";

export interface Thing extends KubeObject {
  readonly data: { readonly value: string };
}

/** Versions that stay readable; a watch from an older one is Gone. */
const HISTORY = 1500;
const NAMES = 300;

/** The content of the server: objects that change at random, and the recent history as lines of a watch. */
export class Truth {
  readonly objects = new Map<string, Thing>();
  readonly #random: () => number;
  readonly #lines: string[] = [];
  #version = 1000;
  #changed = Promise.withResolvers<undefined>();

  constructor(random: () => number) {
    this.#random = random;
  }

  get version(): number {
    return this.#version;
  }

  /** The oldest version from which a watch can start. */
  get oldest(): number {
    return this.#version - this.#lines.length;
  }

  /** Resolves with the next change. */
  get changed(): Promise<undefined> {
    return this.#changed.promise;
  }

  /** One random event: mostly a write, at times a delete. */
  happen(): void {
    const name = `thing-${Math.floor(this.#random() * NAMES)}`;
    const present = this.objects.get(name);
    this.#version += 1;
    const resourceVersion = String(this.#version);
    if (present && this.#random() < 0.2) {
      this.objects.delete(name);
      this.#tell("DELETED", { ...present, metadata: { ...present.metadata, resourceVersion } });
      return;
    }
    const uid = present?.metadata.uid ?? `uid-${resourceVersion}`;
    const thing: Thing = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "shop", name, uid, resourceVersion, managedFields: [{ manager: "test" }] },
      data: { value: `${name} at ${resourceVersion}` },
    };
    this.objects.set(name, thing);
    this.#tell(present ? "MODIFIED" : "ADDED", thing);
  }

  /** At most `limit` lines of what happened after `version`. */
  since(version: number, limit: number): readonly string[] {
    const start = version - this.oldest;
    return this.#lines.slice(start, start + limit);
  }

  #tell(type: string, object: Thing): void {
    this.#lines.push(`${JSON.stringify({ type, object })}\n`);
    if (this.#lines.length > HISTORY) this.#lines.shift();
    this.#changed.resolve(undefined);
    this.#changed = Promise.withResolvers<undefined>();
  }
}
