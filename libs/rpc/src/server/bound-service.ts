import type { CallContext, TsProtoServiceDefinition } from "nice-grpc";
import type { Authorizer } from "../auth/authorizer.ts";
import { authorizeBearer } from "../auth/bearer.ts";
import type { CallName, Calls } from "./calls.ts";
import type { Attachment, Served } from "./served.ts";

type Handler = (request: unknown, context: CallContext) => Promise<unknown> | AsyncIterable<unknown>;

/** A method with all that stands before its handler: limits, rights, and how failures leave it. */
export interface BoundMethod {
  /** As the proto names it: `List`. */
  readonly name: string;
  readonly streams: boolean;
  /** It changes nothing, so that it may be called by GET. */
  readonly safe: boolean;
  readonly attachment: ((response: unknown) => Attachment) | undefined;
  readonly decode: (request: Uint8Array) => unknown;
  readonly encode: (response: unknown) => Uint8Array;
  /** Rejects with a `CallFailed`. */
  readonly call: (request: unknown, context: CallContext) => Promise<unknown>;
  /** Ends with a `CallFailed`, if not well. */
  readonly open: (request: unknown, context: CallContext) => AsyncGenerator;
}

export interface BoundService {
  /** As the proto names it: `Decisions`. */
  readonly name: string;
  readonly fullName: string;
  /** By the name that generated code gives them: `list`. */
  readonly methods: ReadonlyMap<string, BoundMethod>;
}

/** Joins a service to the calls in progress. A method that may change something and says nothing of access is a programmer's mistake. */
export function bindService(served: Served, calls: Calls, authorizer: Authorizer | undefined): BoundService {
  const { definition } = served;
  const entries = Object.entries(definition.methods).map(([key, method]) => {
    return [key, bindMethod(served, key, method, calls, authorizer)] as const;
  });
  return { name: definition.name, fullName: definition.fullName, methods: new Map(entries) };
}

function bindMethod(
  { definition, implementation, access = {}, statuses, attachments = {} }: Served,
  key: string,
  method: TsProtoServiceDefinition["methods"][string],
  calls: Calls,
  authorizer: Authorizer | undefined,
): BoundMethod {
  const safe = method.options.idempotencyLevel === "NO_SIDE_EFFECTS";
  const permission = access[key] ?? (safe ? "anyone" : undefined);
  if (permission === undefined)
    throw new TypeError(`${definition.fullName}/${method.name} does not say who may call it`);

  const handler = (implementation as unknown as Record<string, Handler>)[key]?.bind(implementation);
  if (!handler) throw new TypeError(`${definition.fullName}/${method.name} is not implemented`);
  const name: CallName = { service: definition.fullName, method: method.name, statuses };
  const admit = async (request: unknown, context: CallContext) => {
    if (permission === "anyone") return;
    const { metadata, signal } = context;
    await authorizeBearer(authorizer, method.name, permission(request), metadata.get("authorization"), signal);
  };
  return {
    name: method.name,
    streams: method.responseStream,
    safe,
    attachment: attachments[key] as ((response: unknown) => Attachment) | undefined,
    decode: (request) => method.requestType.decode(request) as unknown,
    encode: (response) => method.responseType.encode(method.responseType.fromPartial?.(response) ?? response).finish(),
    call: (request, context) =>
      calls.unary(name, context.signal, async (signal) => {
        await admit(request, context);
        return handler(request, { ...context, signal }) as Promise<unknown>;
      }),
    open: (request, context) =>
      calls.stream(name, context.signal, async function* (signal) {
        await admit(request, context);
        yield* handler(request, { ...context, signal }) as AsyncIterable<unknown>;
      }),
  };
}
