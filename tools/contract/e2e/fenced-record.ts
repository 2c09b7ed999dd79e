import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A write that someone tried. */
export interface Attempt {
  readonly identity: string;
  readonly token: bigint;
  /** Whether the writer had asked, right before, if its term still lasts. */
  readonly asked: boolean;
  readonly accepted: boolean;
  /** Milliseconds since an arbitrary start. */
  readonly at: number;
}

/** Shared state that takes writes with the largest fencing token it has seen, and no smaller one after. */
export class FencedRecord {
  readonly attempts: Attempt[] = [];
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  #largest = 0n;

  constructor() {
    this.#server = createServer((request, response) => {
      const query = new URL(request.url ?? "", "http://record").searchParams;
      const token = BigInt(query.get("token") ?? 0);
      const accepted = token >= this.#largest;
      if (accepted) this.#largest = token;
      const identity = query.get("identity") ?? "";
      this.attempts.push({ identity, token, accepted, asked: query.has("asked"), at: performance.now() });
      response.writeHead(accepted ? 200 : 409).end();
      for (const look of this.#waiting) look();
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get last(): Attempt | undefined {
    return this.attempts.at(-1);
  }

  /** Resolves with the first attempt from now on that is as wanted; rejects after `limit` milliseconds. */
  next(wanted: (attempt: Attempt) => boolean, limit: number): Promise<Attempt> {
    const from = this.attempts.length;
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`no such write came within ${limit} ms`));
      }, limit);
      const look = () => {
        const found = this.attempts.slice(from).find(wanted);
        if (!found) return;
        end();
        resolve(found);
      };
      this.#waiting.add(look);
    });
  }
}
