import { type ClientHttp2Session, connect } from "node:http2";
import type { Socket } from "node:net";
import type { ForwardLimits } from "../limits.ts";

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

  /** A session with room for one stream more. */
  take(): Session {
    for (const session of this.#sessions) if (session.hasRoom) return session;
    const session = new Session(this.#authority, this.#limits, this.#connect(), () => {
      const index = this.#sessions.indexOf(session);
      if (index >= 0) this.#sessions.splice(index, 1);
    });
    this.#sessions.push(session);
    return session;
  }

  close(): void {
    for (const session of [...this.#sessions]) session.http2.destroy();
  }
}

/** One session and how many streams it carries. */
export class Session {
  readonly http2: ClientHttp2Session;
  /** Whether the connection was made; until then nothing was sent. */
  connected = false;
  /** What ended it, for its streams: they are told less. */
  error: Error | undefined;
  #streams = 0;
  #goingAway = false;
  readonly #idle: number;

  constructor(authority: string, limits: ForwardLimits, socket: Socket, closed: () => void) {
    this.#idle = limits.upstreamIdle;
    this.http2 = connect(authority, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: 1024 * 1024 },
      maxHeaderListPairs: 1024,
    });
    socket.once("connect", () => (this.connected = true));
    this.http2.on("connect", () => this.http2.setLocalWindowSize(4 * 1024 * 1024));
    this.http2.on("goaway", () => (this.#goingAway = true));
    this.http2.on("error", (error: Error) => (this.error = error));
    this.http2.on("close", closed);
    this.http2.setTimeout(this.#idle, () => {
      if (this.#streams === 0) this.http2.close();
    });
  }

  get hasRoom(): boolean {
    if (this.#goingAway || this.http2.closed || this.http2.destroyed) return false;
    // What the peer allows is known after its settings have come; 100 is what it should allow at least.
    const limit = this.connected ? this.http2.remoteSettings.maxConcurrentStreams : undefined;
    return this.#streams < (limit ?? 100);
  }

  enter(): void {
    this.#streams += 1;
  }

  leave(): void {
    this.#streams -= 1;
    if (this.#streams === 0 && this.#goingAway) this.http2.close();
  }
}
