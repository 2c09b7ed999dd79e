import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import type { PodProgram, RunningPod } from "@evenkeel/sim";
import { PATH_PROBE_PATH } from "../src/gateway/gate/path-probe-answer.ts";
import { bytes } from "./bytes.ts";
import type { InFlight } from "./in-flight.ts";

/** Where every pod listens. */
export const PORT = 8080;

/** Before the number of bytes to answer with. */
const DOWNLOAD = "/bytes/";
/** For uploads that are too large to be repeated. */
const DIGEST = "/digest";

/** A request that a pod received. */
export interface Received {
  readonly pod: string;
  readonly service: string;
  readonly method: string;
  readonly path: string;
  /** Of a request for `/digest`, what it hashes to. */
  readonly body: string;
  /** Whether the pod had already been removed. */
  readonly late: boolean;
}

export interface EchoPodOptions {
  readonly received: Received[];
  /** Milliseconds as in WorldOptions. */
  readonly refuse: number;
  readonly exitDelay: number;
  readonly inFlight: InFlight;
  /** Where it is while it listens. */
  readonly running: Set<EchoPod>;
}

/**
 * A pod that responds with its name and the request, or with the bytes of `/bytes/<count>`. It serves while it
 * terminates. After that it refuses connections, and open ones are closed, with any request in flight.
 */
export class EchoPod implements PodProgram {
  readonly #server: Server;
  readonly #service: string;
  readonly #options: EchoPodOptions;
  #listening: NodeJS.Timeout | undefined;
  #exiting: NodeJS.Timeout | undefined;
  #gone = false;

  constructor({ name, address, labels }: RunningPod, options: EchoPodOptions) {
    const { received, refuse, running } = options;
    running.add(this);
    this.#options = options;
    this.#service = labels["app"] ?? "";
    this.#server = createServer((asked, answer) => {
      const late = this.#gone;
      void (asked.url === DIGEST ? digestOf(asked) : textOf(asked)).then(
        (body) => {
          // The resolver's path probe may reach a pod if connections are slow.
          if (asked.url !== PATH_PROBE_PATH)
            received.push({
              ...{ pod: name, service: this.#service },
              ...{ method: asked.method ?? "", path: asked.url ?? "", body, late },
            });
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
    this.#server.on("error", (error) => {
      throw error;
    });
    const listen = () => void this.#server.listen(PORT, address);
    // A pod is not ready before it listens, unless that is wanted.
    if (refuse === 0) listen();
    else this.#listening = setTimeout(listen, refuse);
  }

  terminate(): void {
    const { exitDelay, inFlight } = this.#options;
    if (exitDelay === Infinity) return;
    this.#exiting = setTimeout(() => void inFlight.quiet(this.#service).then(() => this.kill()), exitDelay);
  }

  kill(): void {
    this.#gone = true;
    clearTimeout(this.#listening);
    clearTimeout(this.#exiting);
    this.#options.running.delete(this);
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function sendBytes(answer: ServerResponse, count: number): void {
  answer.writeHead(200, { "content-length": count });
  // A client that disconnects is no failure of the pod's.
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
