import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { faultText, Refused } from "../api/refused.ts";
import type { Connection, ConnectionState } from "./connection.ts";

export const ConnectionContext = createContext<Connection | undefined>(undefined);

function useConnection(): Connection {
  const connection = useContext(ConnectionContext);
  if (!connection) throw new Error("outside of the shell");
  return connection;
}

export function useConnectionState(): ConnectionState & { readonly retryNow: () => void } {
  const connection = useConnection();
  const [state, setState] = useState(connection.state);
  useEffect(() => {
    setState(connection.state);
    return connection.subscribe(() => setState(connection.state));
  }, [connection]);
  return { ...state, retryNow: () => connection.retryNow() };
}

export interface StreamHandlers<T> {
  readonly message: (message: T) => void;
  /** A connection is open: the server sends everything again. */
  readonly opened?: () => void;
  /** The service has no such stream. */
  readonly absent?: () => void;
}

/** Follows an event stream while the component is shown; the shell says when it is cut. */
export function useStream<T>(address: string, handlers: StreamHandlers<T>): void {
  const connection = useConnection();
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(
    () =>
      connection.open({
        address,
        message: (data) => latest.current.message(data as T),
        opened: () => latest.current.opened?.(),
        absent: () => latest.current.absent?.(),
      }),
    [connection, address],
  );
}

export type Loaded<T> =
  | { readonly phase: "loading"; readonly data?: undefined; readonly fault?: undefined; readonly denied?: false }
  | { readonly phase: "loaded"; readonly data: T; readonly fault?: string | undefined; readonly denied?: boolean }
  /** `denied`: for want of a token, or of rights. */
  | { readonly phase: "failed"; readonly data?: undefined; readonly fault: string; readonly denied: boolean };

/**
 * Loads now, when `key` changes, and every `interval` milliseconds while the page is visible. After a failure the last
 * data stays, and the fault is shown with it.
 */
export function useLoaded<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  interval?: number,
): Loaded<T> & { readonly reload: () => void } {
  const [loaded, setLoaded] = useState<Loaded<T>>({ phase: "loading" });
  const [reloads, setReloads] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => setLoaded({ phase: "loading" }), [key]);
  useEffect(() => {
    const unmounted = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const loadOnce = async () => {
      if (!document.hidden) {
        try {
          const data = await latest.current(unmounted.signal);
          if (!unmounted.signal.aborted) setLoaded({ phase: "loaded", data });
        } catch (error) {
          if (!unmounted.signal.aborted) setLoaded((before) => failed(before, error));
        }
      }
      if (interval !== undefined && !unmounted.signal.aborted) timer = setTimeout(() => void loadOnce(), interval);
    };
    void loadOnce();
    return () => {
      unmounted.abort();
      clearTimeout(timer);
    };
  }, [key, interval, reloads]);
  return { ...loaded, reload: () => setReloads((before) => before + 1) };
}

function failed<T>(before: Loaded<T>, error: unknown): Loaded<T> {
  const fault = faultText(error);
  const denied = error instanceof Refused && error.denied;
  return before.phase === "loaded" ? { ...before, fault, denied } : { phase: "failed", fault, denied };
}

/** The time, once a second, for relative times. */
export function useNow(interval = 1000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), interval);
    return () => clearInterval(timer);
  }, [interval]);
  return now;
}
