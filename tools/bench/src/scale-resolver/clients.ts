// A process of clients. Each request of a burst has a connection of its own; a flood uses those again that are
// answered.
import { createConnection, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { now } from "./now.ts";
import { type Question, question, type RawAnswer, RawRequest } from "./raw-request.ts";
import { answer } from "./remote.ts";

/** Connections that are being made at once: more would overflow the listener's queue, and come a second later. */
const CONNECTING = 200;
/** Milliseconds between two portions of a flood. */
const PORTION = 5;

export interface Burst {
  readonly name: string;
  readonly port: number;
  readonly count: number;
  /** Half of them POST. */
  readonly mixed: boolean;
}

export interface Flood {
  readonly name: string;
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
}

/** One request: when it was sent, when the first byte of its answer came, and whether the answer is the right one. */
export interface Reply {
  readonly sent: number;
  readonly first: number;
  /** 0: none. */
  readonly status: number;
  /** Whether it is the pod's answer to this very request and body. */
  readonly right: boolean;
  readonly retryAfter: boolean;
}

interface Running {
  readonly sockets: Set<Socket>;
  readonly replies: Reply[];
  readonly finished: Promise<unknown>;
}

const running = new Map<string, Running>();

function open(port: number, sockets: Set<Socket>): Socket {
  const socket = createConnection({ host: "127.0.0.1", port, noDelay: true });
  sockets.add(socket);
  socket.on("error", () => undefined);
  socket.once("close", () => sockets.delete(socket));
  return socket;
}

function replyOf({ sent, first }: RawRequest, { expected }: Question, got: RawAnswer | undefined): Reply {
  if (!got) return { sent, first, status: 0, right: false, retryAfter: false };
  const { status, body, head } = got;
  return { sent, first, status, right: body === expected, retryAfter: head.includes("\r\nretry-after:") };
}

/** Sends all, as fast as connections are made. The answer comes then, and is the moment at which the first was sent. */
async function burst({ name, port, count, mixed }: Burst): Promise<number> {
  const sockets = new Set<Socket>();
  const replies: Reply[] = [];
  const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>();
  const { promise: sent, resolve: allSent } = Promise.withResolvers<number>();
  running.set(name, { sockets, replies, finished });
  const questions = Array.from({ length: count }, (_empty, index) => question(`${name}-${index}`, index, mixed));
  let begun = 0;
  let settled = 0;
  let first = 0;
  const next = () => {
    const asked = questions[begun++];
    if (!asked) return;
    const socket = open(port, sockets);
    const request = new RawRequest((got) => {
      socket.destroy();
      replies.push(replyOf(request, asked, got));
      if (replies.length === count) finish(undefined);
    });
    const goOn = () => {
      settled += 1;
      if (settled === count) allSent(first);
      next();
    };
    const failed = () => {
      replies.push(replyOf(request, asked, undefined));
      if (replies.length === count) finish(undefined);
      goOn();
    };
    socket.once("close", failed);
    socket.once("connect", () => {
      socket.off("close", failed);
      request.send(socket, asked.bytes);
      first ||= request.sent;
      goOn();
    });
  };
  for (let index = 0; index < CONNECTING; index++) next();
  return sent;
}

/** Sends so many a second, whatever comes back. The answer comes when the time is over. */
async function flood({ name, port, perSecond, seconds }: Flood): Promise<void> {
  const sockets = new Set<Socket>();
  const idle = new Set<Socket>();
  const replies: Reply[] = [];
  running.set(name, { sockets, replies, finished: new Promise(() => undefined) });
  const one = (index: number) => {
    const asked = question(`${name}-${index}`, index, false);
    const [free] = idle;
    const socket = free ?? open(port, sockets);
    const request = new RawRequest((got) => {
      replies.push(replyOf(request, asked, got));
      if (got?.kept === true) idle.add(socket);
      else socket.destroy();
    });
    if (free) {
      idle.delete(free);
      request.send(free, asked.bytes);
      return;
    }
    socket.once("connect", () => request.send(socket, asked.bytes));
    socket.once("close", () => idle.delete(socket));
  };
  const began = now();
  const total = perSecond * seconds;
  for (let sent = 0; sent < total;) {
    const due = Math.min(total, ((now() - began) / 1000) * perSecond);
    while (sent < due) one(sent++);
    await sleep(PORTION);
  }
}

/** Waits for the rest of the answers, but not for ever: requests without one by then are lost. */
async function finish({ name, patience }: { name: string; patience: number }): Promise<readonly Reply[]> {
  const found = running.get(name);
  if (!found) throw new Error(`there is no burst ${name}`);
  const waiting = new AbortController();
  await Promise.race([found.finished, sleep(patience, undefined, { signal: waiting.signal }).catch(() => undefined)]);
  waiting.abort();
  running.delete(name);
  const replies = [...found.replies];
  for (const socket of found.sockets) socket.destroy();
  return replies;
}

const methods = { burst, flood, finish };
export type Clients = typeof methods;
answer(methods);
