import { checkFence, checkName, toJson } from "../arguments.ts";
import { BadArgument, Conflict, Corrupt, Fenced } from "../errors.ts";
import type { Keys } from "../keys.ts";
import type { Fence, Records, StoredRecord, Version, WriteTerms } from "../state.ts";
import { newVersion, parseJson, parseVersion } from "../stored-text.ts";
import type { Calls } from "./calls.ts";

/** How long the tokens of a forgotten object are still refused, in milliseconds. */
const TOKENS_OUTLIVE = 86_400_000;

export class RedisRecords implements Records {
  readonly #calls: Calls;
  readonly #keys: Keys;

  constructor(calls: Calls, keys: Keys) {
    this.#calls = calls;
    this.#keys = keys;
  }

  async get(object: string, name: string): Promise<StoredRecord | undefined> {
    const key = this.#keys.records(object);
    checkName("record", name);
    const text = await this.#calls.run("get", key, (client) => client.hget(key, name));
    return text === null ? undefined : parseRecord(key, name, text);
  }

  async list(object: string): Promise<readonly StoredRecord[]> {
    const key = this.#keys.records(object);
    const texts = await this.#calls.run("list", key, (client) => client.hgetall(key));
    return Object.entries(texts)
      .map(([name, text]) => parseRecord(key, name, text))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async put(object: string, name: string, value: unknown, { expected, fence }: WriteTerms): Promise<Version> {
    const keys = [this.#keys.records(object), this.#keys.fences(object)] as const;
    const version = newVersion();
    const text = `${version} ${toJson(`record ${name}`, value)}`;
    const args = [checkName("record", name), expected, text, ...fenceArguments(fence)];
    await this.#calls.run("put", keys[0], async (client) =>
      accept(await client.ekPut(...keys, ...args), { object, name, fence }),
    );
    return version;
  }

  async delete(object: string, name: string, { expected, fence }: WriteTerms): Promise<boolean> {
    const keys = [this.#keys.records(object), this.#keys.fences(object)] as const;
    const args = [checkName("record", name), expected, ...fenceArguments(fence)];
    const existed = await this.#calls.run("delete", keys[0], async (client) =>
      accept(await client.ekDelete(...keys, ...args), { object, name, fence }),
    );
    return existed === "1";
  }

  async raise(object: string, fence: Fence): Promise<void> {
    const key = this.#keys.fences(object);
    await this.#calls.run("raise", key, async (client) =>
      accept(await client.ekRaise(key, ...fenceArguments(fence)), { object, name: "", fence }),
    );
  }

  async forget(object: string, fence: Fence | "unfenced"): Promise<void> {
    const keys = [
      this.#keys.records(object),
      this.#keys.fences(object),
      this.#keys.counts(object),
      this.#keys.streams(object),
    ];
    const streams = this.#keys.stream(object, "x").slice(0, -1);
    await this.#calls.run("forget", keys[0] ?? "", async (client) =>
      accept(await client.ekForget(...keys, ...fenceArguments(fence), TOKENS_OUTLIVE, streams), {
        object,
        name: "",
        fence,
      }),
    );
  }
}

/** Scope and token as scripts take them; no fence is an empty scope. */
function fenceArguments(fence: Fence | "unfenced"): [string, string] {
  if (fence === "unfenced") return ["", ""];
  const { scope, token } = checkFence(fence);
  return [scope, token.toString()];
}

interface Write {
  readonly object: string;
  readonly name: string;
  readonly fence: Fence | "unfenced";
}

/** What a script says besides "ok". */
function accept(reply: unknown, { object, name, fence }: Write): string | undefined {
  const [verdict, detail] = reply as [string, string?];
  if (verdict === "ok") return detail;
  if (verdict === "conflict") throw new Conflict({ object, name });
  if (fence === "unfenced") throw new BadArgument({ what: `a write without a fence was answered with ${verdict}` });
  throw new Fenced({ object, scope: fence.scope, token: fence.token.toString(), highest: detail ?? "a higher one" });
}

function parseRecord(key: string, name: string, text: string): StoredRecord {
  const where = `${key} ${name}`;
  const space = text.indexOf(" ");
  if (space < 0) throw new Corrupt({ key: where, fault: "it has no version" });
  return {
    name,
    version: parseVersion(where, text.slice(0, space)),
    value: parseJson(where, text.slice(space + 1)),
  };
}
