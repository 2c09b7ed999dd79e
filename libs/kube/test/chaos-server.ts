import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Truth } from "./truth.ts";

/** How a watch ends, other than by its time-out. */
const ends = ["cut", "cut within a line", "half open", "garbage", "in-band 410", "in-band 500", "clean end"] as const;

/**
 * An API server on a real socket that serves the objects of a Truth and fails at random: it resets connections, sends
 * no data, expires versions, is overloaded or slow, or sends garbage.
 */
export class ChaosServer {
  readonly requests = { list: 0, watch: 0 };
  /** How often each fault happened. */
  readonly faults = new Map<string, number>();
  readonly #truth: Truth;
  readonly #random: () => number;
  readonly #streams: boolean;
  readonly #server: Server;
  readonly #snapshots = new Map<string, readonly string[]>();

  /** In turn, so that each happens. */
  #nextEnd: number;

  /** `streams`: whether it supports `sendInitialEvents`. */
  constructor(truth: Truth, random: () => number, streams: boolean) {
    this.#truth = truth;
    this.#random = random;
    this.#streams = streams;
    this.#nextEnd = Math.floor(random() * ends.length);
    this.#server = createServer((request, response) => {
      void this.#answer(request, response).catch(() => response.destroy());
    });
    this.#server.on("connection", (socket) => {
      if (this.#strikes("reset connection", 0.05)) socket.resetAndDestroy();
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #strikes(fault: string, probability: number): boolean {
    if (this.#random() >= probability) return false;
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    return true;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const query = new URL(request.url ?? "", "http://server").searchParams;
    const isWatch = query.get("watch") === "true";
    this.requests[isWatch ? "watch" : "list"] += 1;
    if (this.#strikes("slow answer", 0.05)) await delay(30);
    if (this.#strikes("429", 0.05)) {
      refuse(response, 429, "TooManyRequests", { "retry-after": "0" });
      return;
    }
    if (this.#strikes("500", 0.05)) {
      refuse(response, 500, "InternalError");
      return;
    }
    if (this.#strikes("hang up", 0.03)) response.destroy();
    else if (this.#strikes("not Kubernetes", 0.03)) response.end("<html>a captive portal</html>");
    else await (isWatch ? this.#watch(query, response) : this.#list(query, response));
  }

  async #list(query: URLSearchParams, response: ServerResponse): Promise<void> {
    const token = query.get("continue");
    const limit = Number(query.get("limit") ?? 0);
    if (token !== null && this.#strikes("expired page", 0.1)) {
      refuse(response, 410, "Expired");
      return;
    }
    if (token === null && query.get("resourceVersion") && this.#strikes("too large a version", 0.6)) {
      refuse(response, 504, "Timeout", {}, [
        { reason: "ResourceVersionTooLarge", message: "Too large resource version" },
      ]);
      return;
    }
    // All pages have the state of the first one.
    const [version = "", from = "0"] = token?.split("+") ?? [String(this.#truth.version)];
    const present = [...this.#truth.objects.values()].map((each) => JSON.stringify(each));
    if (token === null) this.#snapshots.set(version, present);
    const all = this.#snapshots.get(version) ?? [];
    const end = limit === 0 ? all.length : Math.min(Number(from) + limit, all.length);
    const more = end < all.length ? `${version}+${end}` : "";
    if (more === "") this.#snapshots.clear();
    const metadata = JSON.stringify({ resourceVersion: version, ...(more === "" ? {} : { continue: more }) });
    const items = all.slice(Number(from), end).join(",");
    const body = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":${metadata},"items":[${items}]}`;
    response.setHeader("content-type", "application/json");
    if (!this.#strikes("list cut short", 0.08)) {
      response.end(body);
      return;
    }
    response.write(body.slice(0, body.length >> 1));
    await delay(1);
    response.destroy();
  }

  async #watch(query: URLSearchParams, response: ServerResponse): Promise<void> {
    const initial = query.get("sendInitialEvents") === "true";
    if (initial && !this.#streams) {
      refuse(response, 422, "Invalid");
      return;
    }
    let version = initial ? this.#truth.version : Number(query.get("resourceVersion"));
    if (version < this.#truth.oldest) {
      this.#strikes("410", 1);
      refuse(response, 410, "Expired");
      return;
    }
    response.setHeader("content-type", "application/json");
    response.flushHeaders();
    if (initial && !(await this.#sendState(response))) return;
    // A second of Kubernetes is a tenth of one here.
    const over = performance.now() + Number(query.get("timeoutSeconds")) * 100;
    while (!response.destroyed && performance.now() < over) {
      if (version < this.#truth.oldest) {
        this.#strikes("410", 1);
        response.end(`${JSON.stringify({ type: "ERROR", object: status(410, "Expired") })}\n`);
        return;
      }
      const lines = this.#truth.since(version, 1 + Math.floor(this.#random() * 300));
      if (this.#random() < 0.12) return this.#breakOff(response, lines[0] ?? bookmark(version));
      version += lines.length;
      if (lines.length > 0) response.write(lines.join(""));
      else if (this.#random() < 0.5) response.write(bookmark(version));
      if (this.#strikes("slow watch", 0.03)) await delay(20);
      else if (lines.length === 0) await Promise.race([this.#truth.changed, delay(20)]);
      else if (response.writableNeedDrain)
        await Promise.race([new Promise((resolve) => response.once("drain", resolve)), delay(50)]);
      else await delay(1);
    }
    response.end();
  }

  /** Sends the whole state and its end, or half of it. Returns whether to continue. */
  async #sendState(response: ServerResponse): Promise<boolean> {
    const version = this.#truth.version;
    const lines = [...this.#truth.objects.values()].map((object) => `${JSON.stringify({ type: "ADDED", object })}\n`);
    if (this.#strikes("state cut short", 0.4)) {
      response.write(lines.slice(0, lines.length >> 1).join(""));
      await delay(1);
      response.destroy();
      return false;
    }
    response.write(lines.join("") + bookmark(version, { "k8s.io/initial-events-end": "true" }));
    return true;
  }

  async #breakOff(response: ServerResponse, line: string): Promise<void> {
    const end = ends[this.#nextEnd++ % ends.length] ?? "cut";
    this.#strikes(end, 1);
    if (end === "half open") return;
    if (end === "garbage") response.write('{"type":"ADDED","object":{"metada\u0000\n');
    if (end === "in-band 410") response.write(`${JSON.stringify({ type: "ERROR", object: status(410, "Expired") })}\n`);
    if (end === "in-band 500")
      response.write(`${JSON.stringify({ type: "ERROR", object: status(500, "InternalError") })}\n`);
    if (end === "cut within a line") response.write(line.slice(0, line.length >> 1));
    if (end === "clean end") response.end();
    await delay(1);
    response.destroy();
  }
}

function bookmark(version: number, annotations: Readonly<Record<string, string>> = {}): string {
  const metadata = { resourceVersion: String(version), annotations };
  return `${JSON.stringify({ type: "BOOKMARK", object: { kind: "ConfigMap", apiVersion: "v1", metadata } })}\n`;
}

function status(code: number, reason: string, causes: readonly unknown[] = []) {
  return { kind: "Status", apiVersion: "v1", status: "Failure", message: reason, reason, code, details: { causes } };
}

function refuse(
  response: ServerResponse,
  code: number,
  reason: string,
  headers: Readonly<Record<string, string>> = {},
  causes: readonly unknown[] = [],
): void {
  response.writeHead(code, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(status(code, reason, causes)));
}
