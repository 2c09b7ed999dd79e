import { type Clock, explain, withDeadline } from "@evenkeel/runtime";
import { PeerAnswer } from "../errors.ts";
import type { PeerAddress } from "./peer-list.ts";
import { type PeerState, type PeerUp, readPeer } from "./peer-state.ts";

export interface PeersOptions {
  readonly peers: readonly PeerAddress[];
  /** Maximum milliseconds for a response of a peer. */
  readonly deadline: number;
  readonly clock: Clock;
}

/** The largest answer that is read of a peer, in bytes. */
const LARGEST_ANSWER = 512 * 1024;
/** Number of decisions that are requested from a peer. */
const DECISIONS = 30;
/** Milliseconds for which a response is reused for all pages. */
const FRESH = 1000;

/**
 * Requests the status of peers, only while a page shows it. Each peer gets at most one request a second for any number
 * of pages, and one that hangs costs no more than the deadline.
 */
export class Peers {
  readonly #options: PeersOptions;
  #asked: { readonly at: number; readonly states: Promise<readonly PeerState[]> } | undefined;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  states(): Promise<readonly PeerState[]> {
    const { clock, peers } = this.#options;
    const now = clock.monotonic();
    if (!this.#asked || now - this.#asked.at >= FRESH) {
      this.#asked = { at: now, states: Promise.all(peers.map((peer) => this.#state(peer))) };
    }
    return this.#asked.states;
  }

  async #state(peer: PeerAddress): Promise<PeerState> {
    const { clock, deadline: milliseconds } = this.#options;
    const { name, dashboard } = peer;
    const askedAt = new Date(clock.now()).toISOString();
    try {
      const deadline = { clock, milliseconds, what: `an answer of ${name}` };
      const up = await withDeadline(deadline, (signal) => ask(peer, signal));
      return { name, dashboard, askedAt, ...up };
    } catch (error) {
      return { name, dashboard, askedAt, up: false, fault: explain(error) };
    }
  }
}

async function ask(peer: PeerAddress, signal: AbortSignal): Promise<PeerUp> {
  const status = "/api/v1/Runtime/Status";
  const list = `/api/v1/Decisions/List?limit=${DECISIONS}`;
  const up = readPeer(...(await Promise.all([json(peer, status, signal), json(peer, list, signal)])));
  if (!up) throw new PeerAnswer({ peer: peer.name, path: status, fault: "what no service of this family would say" });
  return up;
}

async function json(peer: PeerAddress, path: string, signal: AbortSignal): Promise<unknown> {
  const refuse = (fault: string) => new PeerAnswer({ peer: peer.name, path, fault });
  // A redirect could point to an address that this process can reach and the user cannot.
  const response = await fetch(peer.url + path, { signal, redirect: "manual" });
  if (!response.ok) {
    await response.body?.cancel();
    throw refuse(`status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > LARGEST_ANSWER) throw refuse(`more than ${LARGEST_ANSWER} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    throw refuse("something that is not JSON");
  }
}
