import { fullJitter } from "@evenkeel/runtime";
import { Redis, type RedisOptions } from "ioredis";
import type { Address, HostPort } from "../address.ts";
import { type Scripts, scripts } from "./scripts.ts";

export type RedisAddress = Exclude<Address, { home: "sqlite" }>;

export interface ConnectionOptions {
  readonly address: RedisAddress;
  /** Shown by CLIENT LIST. */
  readonly name: string;
  /**
   * How long the server may be silent while it owes an answer, in milliseconds; then the connection is cut and made
   * anew.
   */
  readonly deadline: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onReady: () => void;
  /** The connection is lost; another is being made. */
  readonly onLost: () => void;
  readonly onError: (error: Error) => void;
}

const RECONNECT = { base: 100, cap: 3000 };

/** The least wait before a reconnect in milliseconds, so that jitter cannot make it a busy loop. */
const RECONNECT_FLOOR = 20;

/**
 * One connection to the master, for ever made anew. Nothing is queued while it is away and nothing is sent twice: what
 * was in flight when it broke fails, and the caller decides.
 */
export class RedisConnection {
  readonly client: Redis & Scripts;
  #closed = false;

  constructor({ address, name, deadline, random, onReady, onLost, onError }: ConnectionOptions) {
    const wait = (attempt: number) => RECONNECT_FLOOR + fullJitter(RECONNECT, attempt - 1, random);
    const options = {
      ...serverOptions(address),
      connectionName: name,
      scripts,
      replyMapping: "legacy" as const,
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      autoResubscribe: false,
      connectTimeout: deadline,
      commandTimeout: deadline,
      socketTimeout: deadline,
      sentinelCommandTimeout: deadline,
      disconnectTimeout: deadline,
      retryStrategy: wait,
      sentinelRetryStrategy: wait,
      // A master that was demoted says READONLY: ask again who is master.
      reconnectOnError: (error: Error) => error.message.includes("READONLY"),
    };
    this.client = new Redis(options) as Redis & Scripts;
    this.client.on("ready", onReady);
    this.client.on("close", onLost);
    this.client.on("error", onError);
    this.client.on("end", () => {
      // ioredis gives up if it is disconnected while it still asks the Sentinels.
      if (!this.#closed) setTimeout(() => this.open(), wait(1));
    });
  }

  get isReady(): boolean {
    return this.client.status === "ready";
  }

  open(): void {
    // Failures arrive as "error" events, and it goes on trying.
    if (!this.#closed) this.client.connect().catch(() => undefined);
  }

  /** Makes a silent server noticed: without an answer within the deadline the connection is cut. */
  probe(): void {
    if (this.isReady) this.client.ping().catch(() => undefined);
  }

  close(): void {
    this.#closed = true;
    if (this.client.status !== "end") this.client.disconnect();
  }
}

function serverOptions(address: RedisAddress): RedisOptions {
  const { db, tls, username, password } = address;
  const login = { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
  if (address.home === "redis") {
    const { host, port } = address;
    return { host, port, db, ...login, ...(tls ? { tls: serverName(host) } : {}) };
  }
  const { sentinels, master, sentinel } = address;
  return {
    sentinels: sentinels.map(({ host, port }: HostPort) => ({ host, port })),
    name: master,
    db,
    ...login,
    ...(sentinel.username === undefined ? {} : { sentinelUsername: sentinel.username }),
    ...(sentinel.password === undefined ? {} : { sentinelPassword: sentinel.password }),
    ...(tls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  };
}

/** SNI takes names only. */
function serverName(host: string): { servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host };
}
