import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** A listener here claims the block: the system releases it when the process ends, however it ends. */
const CLAIM = { suffix: "255.254", port: 31_999 };

/** 127.0 has what every machine uses. The ports of the last block end below 20000. */
const FIRST = 1;
const LAST = 111;

/**
 * Ports that a block has on 127.0.0.1. They are below those that programs under test use unless told otherwise, those
 * that a control plane of the tests takes at random, and those that Linux picks for outgoing connections.
 */
const PORTS = { first: 11_000, each: 80 };

/**
 * Claims a block of loopback addresses, 127.n.0.0/16, that no other process in this network namespace has until it is
 * released. Tests whose pods listen at addresses of their own can so run side by side.
 */
export async function loopbackAddresses(): Promise<LoopbackAddresses> {
  const blocks = LAST - FIRST + 1;
  // A block that was released a moment ago may still get connections of former clients, so the search starts anywhere.
  const start = randomInt(blocks);
  for (let step = 0; step < blocks; step++) {
    const block = FIRST + ((start + step) % blocks);
    const claim = await claimed(block);
    if (claim) return new LoopbackAddresses(block, claim);
  }
  throw new Error(`all ${blocks} blocks of loopback addresses are in use`);
}

export class LoopbackAddresses implements AsyncDisposable {
  /** A range of 32,768 addresses, for a sim's pods. `next` and `of` give none of them. */
  readonly range: string;
  /** Ports on 127.0.0.1 that no other block has, such as `11080-11159`. */
  readonly ports: string;
  readonly #block: number;
  readonly #claim: Server;
  readonly #named = new Map<string, string>();
  #count = 0;

  constructor(block: number, claim: Server) {
    this.#block = block;
    this.#claim = claim;
    this.range = `127.${block}.0.0/17`;
    const first = PORTS.first + block * PORTS.each;
    this.ports = `${first}-${first + PORTS.each - 1}`;
  }

  /** An address that was not given out before. */
  next(): string {
    const index = this.#count++;
    const third = 128 + Math.floor(index / 254);
    if (third > 254) throw new Error(`the block 127.${this.#block}.128.0/17 has no address left`);
    return `127.${this.#block}.${third}.${1 + (index % 254)}`;
  }

  /** The address of `name`: the same each time. */
  of(name: string): string {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const address = this.next();
    this.#named.set(name, address);
    return address;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#claim.close();
    await once(this.#claim, "close");
  }
}

async function claimed(block: number): Promise<Server | undefined> {
  // A test that forgets to release its block must not keep its process alive.
  const server = createServer().unref();
  server.listen(CLAIM.port, `127.${block}.${CLAIM.suffix}`);
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return undefined;
    throw error;
  }
}
