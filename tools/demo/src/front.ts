import { readFileSync } from "node:fs";
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Control } from "./story.ts";

/** A service on the stage. */
export interface Actor {
  readonly service: string;
  readonly about: string;
  /** Its admin port, on loopback. */
  readonly port: number;
  readonly controls: readonly Control[];
}

const page = join(import.meta.dirname, "page");
const types: Readonly<Record<string, string>> = { html: "text/html", css: "text/css", js: "text/javascript" };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'";

/** Lines that a page which is opened late still gets. */
const MEMORY = 100;

/**
 * The demo's one address, on loopback: what happens and what can be made to happen, with each service's own dashboard
 * in it under `/<service>/dashboard/`.
 */
export class Front {
  readonly #token: string;
  readonly #server: Server;
  readonly #actors = new Map<string, Actor>();
  readonly #lines: string[] = [];
  readonly #readers = new Set<ServerResponse>();

  /** The services get `token` with the requests of visitors, who have none. */
  constructor(token: string) {
    this.#token = token;
    this.#server = createServer((asked, answer) => this.#answer(asked, answer));
  }

  listen(port: number): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", () => {
        resolve(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`);
      });
    });
  }

  add(actor: Actor): void {
    this.#actors.set(actor.service, actor);
  }

  tell(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > MEMORY) this.#lines.shift();
    for (const reader of this.#readers) reader.write(`data: ${JSON.stringify(line)}\n\n`);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(asked: IncomingMessage, answer: ServerResponse): void {
    const { pathname } = new URL(asked.url ?? "/", "http://demo");
    const [, first = "", second = "", third = ""] = pathname.split("/");
    const actor = this.#actors.get(first);
    const file = pathname === "/" ? "index.html" : pathname.slice(1);
    if (actor) pass(actor, asked, answer, this.#token);
    else if (first === "demo" && second === "actors") json(answer, 200, [...this.#actors.values()].map(shown));
    else if (first === "demo" && second === "lines") this.#follow(answer);
    else if (first === "demo" && asked.method === "POST") void this.#control(second, third, asked, answer);
    else if (["index.html", "front.css", "front.js"].includes(file)) serve(answer, file);
    else json(answer, 404, { error: `there is no ${pathname}` });
  }

  /** Only a page of this origin may make things happen: others cannot send this header without being asked first. */
  async #control(service: string, name: string, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const control = this.#actors.get(service)?.controls.find((each) => each.name === name);
    if (!control || asked.headers["x-demo"] !== "1") {
      json(answer, 404, { error: "there is no such control" });
      return;
    }
    try {
      this.tell(await control.run());
      json(answer, 200, {});
    } catch (error) {
      this.tell(`${control.label} failed: ${String(error)}`);
      json(answer, 500, { error: String(error) });
    }
  }

  #follow(answer: ServerResponse): void {
    answer.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    for (const line of this.#lines) answer.write(`data: ${JSON.stringify(line)}\n\n`);
    this.#readers.add(answer);
    answer.on("close", () => this.#readers.delete(answer));
  }
}

const shown = ({ service, about, controls }: Actor) => ({
  service,
  about,
  controls: controls.map(({ name, label }) => ({ name, label })),
});

/**
 * Passes a request on to the service, whose pages may be framed here and nowhere else. A page of another origin gets no
 * token: a browser says in a header where a request comes from.
 */
function pass({ service, port }: Actor, asked: IncomingMessage, answer: ServerResponse, token: string): void {
  const path = asked.url?.slice(service.length + 1) || "/";
  const { "sec-fetch-site": site = "same-origin" } = asked.headers;
  const sent = { ...(site === "same-origin" && { authorization: `Bearer ${token}` }), ...asked.headers };
  const passed = request({ host: "127.0.0.1", port, path, method: asked.method, headers: sent }, (given) => {
    const headers = { ...given.headers };
    const policy = headers["content-security-policy"];
    if (policy)
      headers["content-security-policy"] = String(policy).replace("frame-ancestors 'none'", "frame-ancestors 'self'");
    delete headers["x-frame-options"];
    answer.writeHead(given.statusCode ?? 502, headers);
    given.pipe(answer);
    given.on("error", () => answer.destroy());
  });
  passed.on("error", () => {
    if (answer.headersSent) answer.destroy();
    else json(answer, 502, { error: `${service} does not answer` });
  });
  answer.on("close", () => passed.destroy());
  asked.pipe(passed);
}

function serve(answer: ServerResponse, file: string): void {
  const type = types[file.split(".").at(-1) ?? ""] ?? "text/plain";
  answer.writeHead(200, { "content-type": `${type}; charset=utf-8`, "content-security-policy": POLICY });
  answer.end(readFileSync(join(page, file)));
}

function json(answer: ServerResponse, status: number, body: unknown): void {
  answer.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
