import { type ClientHttp2Session, connect } from "node:http2";
import type { Socket } from "node:net";
import type { ForwardLimits } from "../limits.ts";

/** Who waits for room on a session. */
export interface SessionTaker {
  /** There is room for one stream. */
  ready(session: Session): void;
  /** The connection that it waited for was not made. */
  unready(error: Error): void;
}

/** The HTTP/2 sessions to one origin: a further one is opened only when all are full, or told to go away. */
export class H2cSessions {
  readonly #authority: string;
  readonly #limits: ForwardLimits;
  readonly #connect: () => Socket;
  readonly #sessions: Session[] = [];

  constructor(authority: string, limits: ForwardLimits, connectSocket: () => Socket) {
    this.#authority = authority;
    this.#limits = limits;
    this.#connect = connectSocket;
  }

  /** Hands a session with room for one stream more to `taker`, at once if there is one. */
  take(taker: SessionTaker): void {
    for (const session of this.#sessions) {
      if (session.hasRoom) {
        taker.ready(session);
        return;
      }
    }
    const session = this.#sessions.find((one) => one.opening) ?? this.#open();
    session.waiting.push(taker);
  }

  close(): void {
    for (const session of [...this.#sessions]) session.http2.destroy();
  }

  #open(): Session {
    const session = new Session(this.#authority, this.#limits, this.#connect());
    this.#sessions.push(session);
    session.http2.once("remoteSettings", () => {
      session.settled = true;
      for (const taker of session.waiting.splice(0)) this.take(taker);
    });
    session.http2.once("close", () => {
      this.#sessions.splice(this.#sessions.indexOf(session), 1);
      const error = session.error ?? new Error("the connection closed before it was of use");
      for (const taker of session.waiting.splice(0)) taker.unready(error);
    });
    return session;
  }
}

/** One session and how many streams it carries. */
export class Session {
  readonly http2: ClientHttp2Session;
  /** Whether the peer has said how many streams it takes; until then none is opened. */
  settled = false;
  /** Who takes a stream as soon as it is settled. */
  readonly waiting: SessionTaker[] = [];
  /** What ended it; its streams are told less. */
  error: Error | undefined;
  #streams = 0;
  #goingAway = false;

  constructor(authority: string, { upstreamIdle }: ForwardLimits, socket: Socket) {
    this.http2 = connect(authority, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: 1024 * 1024 },
      maxHeaderListPairs: 1024,
    });
    this.http2.on("connect", () => this.http2.setLocalWindowSize(4 * 1024 * 1024));
    this.http2.on("goaway", () => (this.#goingAway = true));
    this.http2.on("error", (error: Error) => (this.error = error));
    this.http2.setTimeout(upstreamIdle, () => {
      if (this.#streams === 0) this.http2.close();
    });
  }

  get opening(): boolean {
    return !this.settled && !this.http2.closed && !this.http2.destroyed;
  }

  get hasRoom(): boolean {
    if (!this.settled || this.#goingAway || this.http2.closed || this.http2.destroyed) return false;
    return this.#streams < (this.http2.remoteSettings.maxConcurrentStreams ?? 100);
  }

  enter(): void {
    this.#streams += 1;
  }

  leave(): void {
    this.#streams -= 1;
    if (this.#streams === 0 && this.#goingAway) this.http2.close();
  }
}
