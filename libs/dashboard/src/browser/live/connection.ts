import type { Access } from "../api/access.ts";
import { LiveStream, type LiveStreamOptions, type StreamState } from "./live-stream.ts";

/** What the page as a whole is: `live` if every stream that the service has is. */
export type ConnectionState =
  | { readonly phase: "connecting" | "live" }
  | { readonly phase: "waiting"; readonly since: number; readonly retryAt: number; readonly fault: string };

/** How long a hidden page keeps its streams, in milliseconds. */
const LINGER = 10_000;

/** All live streams of the page: one state to show, one button to retry, and no requests while the page is hidden. */
export class Connection {
  readonly #streams = new Map<LiveStream, StreamState>();
  readonly #listeners = new Set<() => void>();
  readonly #access: Access;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #resting = false;

  constructor(page: Document, access: Access) {
    this.#access = access;
    page.addEventListener("visibilitychange", () => {
      clearTimeout(this.#hiding);
      if (page.hidden) this.#hiding = setTimeout(() => this.#rest(), LINGER);
      else if (this.#resting) this.#resume();
    });
  }

  /** Opens a stream until the returned function is called. */
  open(options: Omit<LiveStreamOptions, "state" | "headers"> & { readonly absent?: () => void }): () => void {
    // The first state is reported while the stream is being created.
    const made: { stream?: LiveStream; state: StreamState } = { state: { phase: "connecting" } };
    const report = (state: StreamState) => {
      made.state = state;
      if (state.phase === "absent") options.absent?.();
      if (!made.stream || !this.#streams.has(made.stream)) return;
      this.#streams.set(made.stream, state);
      this.#tell();
    };
    const stream = (made.stream = new LiveStream({ ...options, headers: () => this.#access.headers, state: report }));
    this.#streams.set(stream, made.state);
    this.#tell();
    return () => {
      stream.close();
      this.#streams.delete(stream);
      this.#tell();
    };
  }

  get state(): ConnectionState {
    const states = [...this.#streams.values()];
    const cut = states.filter((state) => state.phase === "waiting");
    if (cut.length > 0) {
      return {
        phase: "waiting",
        since: Math.min(...cut.map(({ since }) => since)),
        retryAt: Math.min(...cut.map(({ retryAt }) => retryAt)),
        fault: cut[0]?.fault ?? "",
      };
    }
    return { phase: states.some(({ phase }) => phase === "connecting") ? "connecting" : "live" };
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  retryNow(): void {
    for (const stream of this.#streams.keys()) stream.retryNow();
  }

  #rest(): void {
    this.#resting = true;
    for (const stream of this.#streams.keys()) stream.rest();
  }

  #resume(): void {
    this.#resting = false;
    for (const stream of this.#streams.keys()) stream.resume();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
