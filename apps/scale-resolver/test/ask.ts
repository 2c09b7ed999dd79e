import { once } from "node:events";
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { textOf } from "./echo-pod.ts";

export interface AskOptions {
  readonly method?: string;
  readonly path?: string;
  readonly body?: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Milliseconds. */
  readonly took: number;
}

/** Sends one request, on a new connection unless there is an agent. */
export async function ask(
  place: { readonly host: string; readonly port: number },
  { method = "GET", path = "/", body, headers = {}, agent }: AskOptions = {},
): Promise<Answer> {
  const began = performance.now();
  const asked = request({ ...place, method, path, headers, agent: agent ?? false });
  asked.end(body);
  const [answer] = (await once(asked, "response").catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    throw Object.assign(new Error(`${method} ${path} at ${place.host}:${place.port}: ${message}`), { code });
  })) as [IncomingMessage];
  const text = await textOf(answer);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: text, took: performance.now() - began };
}
