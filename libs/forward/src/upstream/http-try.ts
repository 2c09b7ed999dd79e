import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { answerHeaderList, trailerList } from "../headers/response-headers.ts";
import type { Failure } from "../destination.ts";
import { BodyPump } from "./body-pump.ts";
import { freeWhenSent } from "./free-when-sent.ts";
import type { TrackedAgent } from "./origin-pool.ts";
import type { Ask, Asker, Try } from "./try.ts";

/**
 * Sends requests with bodies, `Expect: 100-continue`, trailers and upgrades with node:http. The head is sent before the
 * body, so that an upstream can respond early. The body is not read before there is a connection.
 */
export class HttpTry implements Try {
  readonly #asker: Asker;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  #pump: BodyPump | undefined;
  #connected = false;
  #aborted = false;

  constructor(asker: Asker) {
    this.#asker = asker;
  }

  get connected(): boolean {
    return this.#connected;
  }

  start(agent: TrackedAgent, headBytes: number, { asker, forward, path, host, headers }: Ask): void {
    const { origin } = forward;
    const list = ["host", host, ...headers];
    if (asker.upgrade !== undefined) list.push("connection", "Upgrade", "upgrade", asker.upgrade);
    if (asker.hasBody) {
      if (asker.bodyLength >= 0) list.push("content-length", String(asker.bodyLength));
      else list.push("transfer-encoding", "chunked");
      if (asker.expectsContinue) list.push("expect", "100-continue");
    } else if (asker.upgrade !== undefined && asker.method === "POST") list.push("content-length", "0");
    let asked: ClientRequest;
    try {
      asked = request({
        agent,
        host: origin.host,
        port: origin.port,
        method: asker.method,
        path,
        headers: list,
        setHost: false,
        maxHeaderSize: headBytes,
        insecureHTTPParser: false,
      });
    } catch (error) {
      asker.unsendable(error as Error);
      return;
    }
    this.#request = asked;
    asked.on("error", (error) => this.#fail(error));
    asked.on("response", (response) => this.#answer(response));
    asked.on("continue", () => {
      asker.continued();
      this.sendBody();
    });
    asked.on("information", ({ statusCode, rawHeaders }) => {
      if (!this.#aborted && statusCode !== 100) asker.interim(statusCode, answerHeaderList(rawHeaders));
    });
    asked.on("upgrade", (response, socket, head) => {
      if (this.#aborted || asker.upgrade === undefined) {
        socket.destroy();
        this.#fail(new Error("the upstream changed the protocol unasked"), "protocol");
      } else
        asker.upgraded(response.statusCode ?? 101, response.statusMessage ?? "", response.rawHeaders, socket, head);
    });
    asked.on("socket", (socket) => this.#connect(socket));
    if (!asker.hasBody) asked.end();
    else this.#pump = new BodyPump(asker, asked, (trailers) => this.#endBody(trailers));
  }

  abort(): void {
    this.#aborted = true;
    this.#pump?.stop();
    this.#request?.destroy();
  }

  resume(): void {
    this.#response?.resume();
  }

  sendBody(): void {
    if (!this.#aborted) this.#pump?.start();
  }

  #connect(socket: Socket): void {
    const ready = () => {
      if (this.#aborted || this.#connected || socket.destroyed) return;
      this.#connected = true;
      const { hasBody, expectsContinue, body } = this.#asker;
      if (!hasBody) return;
      // If the body has begun to arrive, the head is sent with it in one write.
      if (expectsContinue || body.readableLength === 0) this.#request?.flushHeaders();
      if (!expectsContinue) this.sendBody();
    };
    if ((socket as { secureConnecting?: boolean }).secureConnecting === true) socket.once("secureConnect", ready);
    else if (socket.connecting) socket.once("connect", ready);
    // The other side may have just closed an idle connection. Its end is visible before the next check phase.
    else if (this.#asker.hasBody) setImmediate(ready);
    else ready();
  }

  #endBody(trailers: readonly string[]): void {
    const kept = trailerList(trailers);
    if (kept.length > 0 && this.#asker.bodyLength < 0) {
      const pairs: [string, string][] = [];
      for (let index = 0; index < kept.length; index += 2) {
        pairs.push([kept[index] as string, kept[index + 1] as string]);
      }
      try {
        this.#request?.addTrailers(pairs);
      } catch (error) {
        this.#fail(error as Error, "protocol");
        return;
      }
    }
    this.#request?.end();
  }

  #answer(response: IncomingMessage): void {
    const asker = this.#asker;
    if (this.#aborted) {
      response.destroy();
      return;
    }
    this.#response = response;
    response.on("data", (data: Buffer) => {
      if (!this.#aborted && !asker.chunk(data, freeWhenSent(data))) response.pause();
    });
    response.on("end", () => {
      if (this.#aborted) return;
      const unsent = this.#pump?.over === false;
      if (unsent) this.abort();
      asker.complete(response.rawTrailers.length > 0 ? response.rawTrailers : undefined);
    });
    response.on("error", (error) => this.#fail(error));
    response.on("close", () => {
      if (!response.complete) this.#fail(new Error("the connection closed inside the answer"));
    });
    asker.answer(
      response.statusCode ?? 502,
      response.statusMessage ?? "",
      answerHeaderList(response.rawHeaders),
      false,
    );
  }

  #fail(error: Error, known?: Failure["kind"]): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#pump?.stop();
    this.#request?.destroy();
    const { code = "" } = error as { code?: string };
    const kind = !this.#connected ? "connect" : code.startsWith("HPE_") && !this.#response ? "protocol" : "reset";
    this.#asker.failed(known ?? kind, error, this.#connected);
  }
}
