import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@evenkeel/runtime/testing";
import { type LoopbackAddresses, loopbackAddresses } from "@evenkeel/testkit";
import { cpuSeconds } from "../forward/process-usage.ts";
import type { Clients, Reply } from "./clients.ts";
import type { Holder, PodAddress } from "./holder.ts";
import type { Pods } from "./pods.ts";
import { Remote } from "./remote.ts";

const POD_PORT = 8080;
/** Milliseconds in which a held burst comes to rest before it is released. */
const REST = 300;
/** Milliseconds after which an answer that has not come is lost. */
const PATIENCE = 60_000;

export interface HandOff {
  /** Milliseconds from the moment at which a pod was said to be ready to the first byte of each answer. */
  readonly times: readonly number[];
  /** Seconds of CPU that the holder needed from there to the last answer. */
  readonly cpu: number;
}

/** Clients and pods, which all contenders share. */
export class Rig implements AsyncDisposable {
  readonly clients: Remote<Clients>;
  readonly pods: Remote<Pods>;
  readonly #addresses: LoopbackAddresses;
  #bursts = 0;

  private constructor(clients: Remote<Clients>, pods: Remote<Pods>, addresses: LoopbackAddresses) {
    this.clients = clients;
    this.pods = pods;
    this.#addresses = addresses;
  }

  static async start(): Promise<Rig> {
    const [clients, pods] = [await Remote.start<Clients>("clients.ts"), await Remote.start<Pods>("pods.ts")];
    return new Rig(clients, pods, await loopbackAddresses());
  }

  /** An address that no pod had before, as a new pod has one: no client has a connection to it yet. */
  newPod(): PodAddress {
    return { address: this.#addresses.next(), port: POD_PORT };
  }

  newBurst(): string {
    return `b${this.#bursts++}`;
  }

  finish(name: string): Promise<readonly Reply[]> {
    return this.clients.ask("finish", { name, patience: PATIENCE });
  }

  /** Seldom asked, since a scrape of metrics costs a process with thousands of sockets tens of milliseconds. */
  async waits(holder: Holder, count: number): Promise<void> {
    const held = async () => {
      const pending = await holder.pending();
      if (pending !== count) throw new Error(`${pending} requests are held, not ${count}`);
    };
    await eventually(held, 90_000, 200);
  }

  /** Lets so many GET wait, and comes to rest. */
  async hold(holder: Holder, count: number): Promise<string> {
    const name = this.newBurst();
    await this.clients.ask("burst", { name, port: holder.port, count, mixed: false });
    await this.waits(holder, count);
    await sleep(REST);
    return name;
  }

  /** Holds so many GET and makes a pod ready. */
  async handOff(holder: Holder, count: number): Promise<HandOff> {
    const pod = this.newPod();
    await this.pods.ask("listen", pod);
    const name = await this.hold(holder, count);
    const before = cpuSeconds(holder.pid);
    const ready = await holder.release(pod);
    const replies = await this.finish(name);
    const cpu = cpuSeconds(holder.pid) - before;
    const right = replies.filter((reply) => reply.right);
    if (right.length !== count) throw new Error(`${count - right.length} of ${count} were not answered`);
    await holder.rest();
    await this.pods.ask("close", pod);
    return { times: right.map(({ first }) => first - ready), cpu };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clients[Symbol.asyncDispose]();
    await this.pods[Symbol.asyncDispose]();
    await this.#addresses[Symbol.asyncDispose]();
  }
}
