import { type ClientHttp2Session, connect } from "node:http2";
import type { Socket } from "node:net";
import type { ForwardLimits } from "../limits.ts";

/** Waits for a free stream of a session. */
export interface SessionTaker {
  /** One stream is free. */
  ready(session: Session): void;
  /** The connection failed. */
  unready(error: Error): void;
}

/** The HTTP/2 sessions to one origin. Another one is opened only when all are full or closing. */
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

  /** Calls `taker` with a session that has a free stream, at once if there is one. */
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

/** One session and its number of streams. */
export class Session {
  readonly http2: ClientHttp2Session;
  /** Whether the peer has sent its maximum number of streams. Until then none is opened. */
  settled = false;
  /** Waiting until the session is settled. */
  readonly waiting: SessionTaker[] = [];
  /** The error that ended it. Its streams report less. */
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
