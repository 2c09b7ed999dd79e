import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import type { PodProgram, RunningPod } from "@evenkeel/sim";
import { bytes } from "./bytes.ts";
import type { UnderWay } from "./under-way.ts";

/** Where every pod listens. */
export const PORT = 8080;

/** Before the number of bytes that a pod is asked for. */
const DOWNLOAD = "/bytes/";
/** For uploads that are too large to be given back. */
const DIGEST = "/digest";

/** What a pod has been asked. */
export interface Seen {
  readonly pod: string;
  readonly method: string;
  readonly path: string;
  /** Of a request for `/digest`, what it hashes to. */
  readonly body: string;
  /** Whether the pod was gone when it came. */
  readonly late: boolean;
}

export interface EchoPodOptions {
  readonly seen: Seen[];
  /** Milliseconds as in WorldOptions. */
  readonly refuse: number;
  readonly leaveDelay: number;
  readonly underWay: UnderWay;
  /** Where it is while it listens. */
  readonly running: Set<EchoPod>;
}

/**
 * A pod that answers with its name and what it was asked, or with as many bytes as `/bytes/<count>` asks for. Told to go, it serves on. When it is
 * gone it refuses connections, and those that were open are closed, whatever is under way.
 */
export class EchoPod implements PodProgram {
  readonly #server: Server;
  readonly #service: string;
  readonly #options: EchoPodOptions;
  #listening: NodeJS.Timeout | undefined;
  #leaving: NodeJS.Timeout | undefined;
  #gone = false;

  constructor({ name, address, labels }: RunningPod, options: EchoPodOptions) {
    const { seen, refuse, running } = options;
    running.add(this);
    this.#options = options;
    this.#service = labels["app"] ?? "";
    this.#server = createServer((asked, answer) => {
      const late = this.#gone;
      void (asked.url === DIGEST ? digestOf(asked) : textOf(asked)).then(
        (body) => {
          // The resolver's own question, whether it is in the path, may come to a pod.
          if (asked.url !== "*")
            seen.push({ pod: name, method: asked.method ?? "", path: asked.url ?? "", body, late });
          if (asked.url?.startsWith(DOWNLOAD)) {
            sendBytes(answer, Number(asked.url.slice(DOWNLOAD.length)));
            return;
          }
          if (asked.url === "/redirect") answer.writeHead(302, { location: "/elsewhere" });
          answer.end(`${name} ${asked.method ?? ""} ${asked.url ?? ""} ${body}`);
        },
        () => undefined,
      );
    });
    // Two worlds of one number would answer for each other.
    this.#server.on("error", (error) => {
      throw error;
    });
    const listen = () => void this.#server.listen(PORT, address);
    // Nobody may hear of a ready pod before it listens, unless that is asked for.
    if (refuse === 0) listen();
    else this.#listening = setTimeout(listen, refuse);
  }

  terminate(): void {
    const { leaveDelay, underWay } = this.#options;
    if (leaveDelay === Infinity) return;
    this.#leaving = setTimeout(() => underWay.whenNone(this.#service, () => this.kill()), leaveDelay);
  }

  kill(): void {
    this.#gone = true;
    clearTimeout(this.#listening);
    clearTimeout(this.#leaving);
    this.#options.running.delete(this);
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function sendBytes(answer: ServerResponse, count: number): void {
  answer.writeHead(200, { "content-length": count });
  // A client that goes is no failure of the pod's.
  pipeline(Readable.from(bytes(count)), answer, () => undefined);
}

export async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function digestOf(stream: IncomingMessage): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of stream) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
