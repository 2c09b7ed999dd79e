import type { MetricRegistry } from "@evenkeel/metrics";
import {
  aborted,
  type Clock,
  type HttpServer,
  type Logger,
  type Running,
  runtimeErrors,
  type Server,
  sleep,
} from "@evenkeel/runtime";
import {
  type CallContext,
  createServer,
  type Server as GrpcServer,
  ServerError,
  type TsProtoServiceDefinition,
} from "nice-grpc";
import { HealthDefinition, HealthServiceImpl, HealthState } from "nice-grpc-server-health";
import { ServerReflection, ServerReflectionService } from "nice-grpc-server-reflection";
import type { Authorizer } from "../auth/authorizer.ts";
import { type ReadAccess, ReadCheck } from "../auth/read-access.ts";
import { descriptors } from "../generated/descriptors.ts";
import { jsonRoutes } from "../json/json-routes.ts";
import { rpcServerMetrics } from "../metrics.ts";
import { CODE_TRAILER } from "../status.ts";
import { serverCredentials, type Transport } from "../tls/credentials.ts";
import { type BoundService, bindService } from "./bound-service.ts";
import { CallFailed, type CallName, Calls } from "./calls.ts";
import type { Served } from "./served.ts";

export interface RpcServerOptions {
  /** All addresses when absent. */
  readonly host?: string | undefined;
  /** 0 asks the system for a free one. */
  readonly port: number;
  readonly transport: Transport;
  /** Take only callers with a certificate that the transport trusts. */
  readonly mtls?: boolean;
  readonly limits: {
    /** Bytes of one message from a caller. */
    readonly message: number;
    readonly calls: number;
    readonly streams: number;
  };
  /** Without one, calls that change something are refused. */
  readonly authorizer?: Authorizer | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricRegistry;
}

/** A dead caller is noticed after the two together, in milliseconds. */
const KEEPALIVE = { time: 30_000, timeout: 10_000 };

/** How long the last answers have to get out once every call has ended, in milliseconds. */
const FLUSH = 3000;

/**
 * The gRPC server, with health and reflection. On shutdown health reports NOT_SERVING first; a drain then ends streams
 * with OK, lets unary calls finish, and takes no new ones.
 */
export class RpcServer implements Server {
  readonly name = "grpc";
  readonly #options: RpcServerOptions;
  readonly #log: Logger;
  readonly #calls: Calls;
  readonly #services: BoundService[] = [];
  readonly #health = HealthState();
  readonly #server: GrpcServer;
  #reads: ReadCheck | undefined;
  #port: number;

  constructor(options: RpcServerOptions) {
    const { limits, registry, log, port } = options;
    this.#options = options;
    this.#port = port;
    this.#log = log.child({ component: this.name });
    this.#calls = new Calls(limits, registry.register(rpcServerMetrics), this.#log);
    this.#server = createServer({
      "grpc.max_receive_message_length": limits.message,
      "grpc.max_send_message_length": -1,
      "grpc.max_concurrent_streams": limits.calls + limits.streams,
      "grpc.keepalive_time_ms": KEEPALIVE.time,
      "grpc.keepalive_timeout_ms": KEEPALIVE.timeout,
    });
  }

  /** Adds a service, before the start. */
  add<D extends TsProtoServiceDefinition>(served: Served<D>): void {
    const { authorizer, clock } = this.#options;
    const service = bindService(served, { calls: this.#calls, authorizer, reads: () => this.#reads, clock });
    this.#services.push(service);
    this.#health.setStatus("healthy", service.fullName);
    const methods = [...service.methods].map(([key, { streams, call, open }]) => {
      const handler = streams
        ? (request: unknown, context: CallContext) => toldInStream(() => open(request, context), context)
        : (request: unknown, context: CallContext) => told(call(request, context), context);
      return [key, handler] as const;
    });
    this.#server.add(served.definition, Object.fromEntries(methods) as never);
  }

  /**
   * Serves the services added so far as JSON under `/api/v1/<Service>/<Method>`. `access` holds for all that these
   * routes serve to readers, but metrics and the files of the dashboard, and for the same methods over gRPC.
   */
  serveJson(routes: HttpServer["routes"], access: ReadAccess): void {
    const { clock, authorizer } = this.#options;
    const reads = access.reads === "token" ? new ReadCheck(access, authorizer) : undefined;
    this.#reads = reads;
    const checkPage =
      reads &&
      ((page: string, authorization: string | undefined, signal: AbortSignal) =>
        this.#calls.unary({ service: "admin", method: page }, signal, () =>
          reads.check(page, authorization, {}, signal),
        ));
    jsonRoutes(routes, [...this.#services], { clock, checkPage });
  }

  get port(): number {
    return this.#port;
  }

  async start({ signal }: Running): Promise<void> {
    const { host, port, transport, mtls = false } = this.#options;
    this.#addHealth();
    this.#addReflection();
    const address = `${host === undefined ? "[::]" : host.includes(":") ? `[${host}]` : host}:${port}`;
    try {
      this.#port = await this.#server.listen(address, serverCredentials(transport, mtls));
    } catch (cause) {
      const fields = { server: this.name, address, flag: "--grpc-port" };
      if (String(cause).includes("EADDRINUSE")) throw new runtimeErrors.PortInUse(fields);
      throw new runtimeErrors.CannotListen(fields, { cause });
    }
    signal.addEventListener("abort", () => this.#sayNotServing(), { once: true });
  }

  async drain(deadline: AbortSignal): Promise<number> {
    let cut = 0;
    const cutAll = () => {
      cut = this.#calls.open;
      this.#server.forceShutdown();
    };
    this.#sayNotServing();
    this.#calls.drain();
    deadline.addEventListener("abort", cutAll, { once: true });
    if (deadline.aborted) cutAll();
    const flushed = new AbortController();
    await Promise.race([
      this.#server.shutdown(),
      aborted(deadline).catch(() => undefined),
      // A connection that its caller dropped half-way never closes, and there is nothing left to wait for.
      this.#calls.ended().then(() => sleep(this.#options.clock, FLUSH, flushed.signal).catch(() => undefined)),
    ]);
    flushed.abort();
    deadline.removeEventListener("abort", cutAll);
    this.#server.forceShutdown();
    return cut;
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.drain(deadline);
  }

  #sayNotServing(): void {
    for (const service of ["", ...this.#services.map(({ fullName }) => fullName)]) {
      this.#health.setStatus("unhealthy", service);
    }
  }

  #addHealth(): void {
    const { check, watch } = HealthServiceImpl(this.#health);
    const service = HealthDefinition.fullName;
    const checks: CallName = { service, method: "Check", unlimited: true };
    const watches: CallName = { service, method: "Watch" };
    this.#server.add(HealthDefinition, {
      check: (request, context) =>
        told(
          this.#calls.unary(checks, context.signal, () => check(request, context)),
          context,
        ),
      watch: (request, context) =>
        toldInStream(
          () =>
            this.#calls.stream(watches, context.signal, (signal) => iterate(watch(request, { ...context, signal }))),
          context,
        ),
    });
  }

  #addReflection(): void {
    const names = [...this.#services.map(({ fullName }) => fullName), HealthDefinition.fullName];
    // Computed on request, because every descriptor is decoded for it.
    let reflection: ReturnType<typeof ServerReflection> | undefined;
    const reflected = () => (reflection ??= ServerReflection(Buffer.from(descriptors, "base64"), names));
    const name: CallName = { service: "grpc.reflection.v1.ServerReflection", method: "ServerReflectionInfo" };
    this.#server.add(ServerReflectionService, {
      serverReflectionInfo: (requests, context) =>
        toldInStream(
          () =>
            this.#calls.stream(name, context.signal, (signal) =>
              iterate(reflected().serverReflectionInfo(requests, { ...context, signal })),
            ),
          context,
        ),
    });
  }
}

/** What the gRPC library calls iterable lacks the types of a whole AsyncIterable. */
function iterate<T>(source: { [Symbol.asyncIterator](): AsyncIterator<T, void> }): AsyncIterable<T> {
  return source as AsyncIterable<T>;
}

async function told<T>(call: Promise<T>, context: CallContext): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw tell(error, context);
  }
}

async function* toldInStream<T>(
  open: () => AsyncIterable<T> | Promise<AsyncIterable<T>>,
  context: CallContext,
): AsyncGenerator<T> {
  try {
    yield* await open();
  } catch (error) {
    throw tell(error, context);
  }
}

function tell(error: unknown, { trailer }: CallContext): unknown {
  if (!(error instanceof CallFailed)) return error;
  const { status, code, message } = error.outcome;
  if (code !== undefined) trailer.set(CODE_TRAILER, code);
  return new ServerError(status, message);
}
