import { type Clock, sleep } from "@evenkeel/runtime";
import type { CallContext, TsProtoServiceDefinition } from "nice-grpc";
import type { Authorizer } from "../auth/authorizer.ts";
import { authorizeBearer } from "../auth/bearer.ts";
import { askedOf, type ReadCheck } from "../auth/read-access.ts";
import { type CallName, type Calls, untilAborted } from "./calls.ts";
import type { Attachment, Served } from "./served.ts";

type Handler = (request: unknown, context: CallContext) => Promise<unknown> | AsyncIterable<unknown>;

/** Rejects with Unauthenticated, Forbidden or CannotAuthorize. */
type Check = (signal: AbortSignal) => Promise<void>;

/** How often the rights of a stream's reader are checked again, in milliseconds. */
export const RECHECK = 60_000;

/** What stands before the handlers of a server. */
export interface Guards {
  readonly calls: Calls;
  readonly authorizer: Authorizer | undefined;
  /** Checks the reader; reads are open if it gives nothing. */
  readonly reads: () => ReadCheck | undefined;
  readonly clock: Clock;
}

/** A method with all that stands before its handler: limits, rights, and how failures leave it. */
export interface BoundMethod {
  /** As the proto names it: `List`. */
  readonly name: string;
  readonly streams: boolean;
  /** It changes nothing, so that it may be called by GET. */
  readonly safe: boolean;
  /** It needs no token even where reads do. */
  readonly forAnyone: boolean;
  readonly attachment: ((response: unknown) => Attachment) | undefined;
  readonly decode: (request: Uint8Array) => unknown;
  readonly encode: (response: unknown) => Uint8Array;
  /** Rejects with a `CallFailed`. */
  readonly call: (request: unknown, context: CallContext) => Promise<unknown>;
  /**
   * Resolves once the caller is admitted, or rejects with a `CallFailed`; with one the stream ends too, if not well.
   */
  readonly open: (request: unknown, context: CallContext) => Promise<AsyncGenerator>;
}

export interface BoundService {
  /** As the proto names it: `Decisions`. */
  readonly name: string;
  readonly fullName: string;
  /** By the name that generated code gives them: `list`. */
  readonly methods: ReadonlyMap<string, BoundMethod>;
}

/**
 * Puts the guards before a service. A method that may change something and says nothing of access is a programmer's
 * mistake.
 */
export function bindService(served: Served, guards: Guards): BoundService {
  const { definition } = served;
  const entries = Object.entries(definition.methods).map(([key, method]) => {
    return [key, bindMethod(served, key, method, guards)] as const;
  });
  return { name: definition.name, fullName: definition.fullName, methods: new Map(entries) };
}

function bindMethod(
  { definition, implementation, access = {}, namesObjects = false, statuses, attachments = {} }: Served,
  key: string,
  method: TsProtoServiceDefinition["methods"][string],
  { calls, authorizer, reads, clock }: Guards,
): BoundMethod {
  const safe = method.options.idempotencyLevel === "NO_SIDE_EFFECTS";
  const permission = access[key] ?? (safe ? "readers" : undefined);
  if (permission === undefined)
    throw new TypeError(`${definition.fullName}/${method.name} does not state its access rule`);

  const handler = (implementation as unknown as Record<string, Handler>)[key]?.bind(implementation);
  if (!handler) throw new TypeError(`${definition.fullName}/${method.name} is not implemented`);
  const name: CallName = { service: definition.fullName, method: method.name, statuses };

  /** The check of a caller; nothing if anyone may call. */
  const checkOf = (request: unknown, { metadata }: CallContext): Check | undefined => {
    const authorization = metadata.get("authorization");
    if (permission === "anyone") return undefined;
    if (permission !== "readers")
      return (signal) => authorizeBearer(authorizer, method.name, permission(request), authorization, signal);
    const readCheck = reads();
    const asked = askedOf(request);
    const checked = namesObjects ? asked : { namespace: asked.namespace };
    return readCheck && ((signal) => readCheck.check(method.name, authorization, checked, signal));
  };
  return {
    name: method.name,
    streams: method.responseStream,
    safe,
    forAnyone: permission === "anyone",
    attachment: attachments[key] as ((response: unknown) => Attachment) | undefined,
    decode: (request) => method.requestType.decode(request) as unknown,
    encode: (response) => method.responseType.encode(method.responseType.fromPartial?.(response) ?? response).finish(),
    call: (request, context) =>
      calls.unary(name, context.signal, async (signal) => {
        await checkOf(request, context)?.(signal);
        return handler(request, { ...context, signal }) as Promise<unknown>;
      }),
    open: async (request, context) => {
      const check = checkOf(request, context);
      const stream = calls.stream(name, context.signal, async function* (signal) {
        await check?.(signal);
        yield "admitted";
        const items = handler(request, { ...context, signal }) as AsyncIterable<unknown>;
        yield* check ? whileAllowed(items, check, clock, signal) : items;
      });
      // A caller that disconnects right after the admission never reads, and a stream without a reader does not end by
      // itself.
      context.signal.addEventListener("abort", () => void stream.return(undefined), { once: true });
      await stream.next();
      return stream;
    },
  };
}

/** What `items` gives, until a repeated check fails. `signal` aborts when the stream has ended. */
async function* whileAllowed<T>(
  items: AsyncIterable<T>,
  check: Check,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const refused = new AbortController();
  const repeat = async () => {
    for (;;) {
      await sleep(clock, RECHECK, signal);
      await check(signal);
    }
  };
  void repeat().catch((error: unknown) => refused.abort(error));
  yield* untilAborted(items, refused.signal);
  refused.signal.throwIfAborted();
}
