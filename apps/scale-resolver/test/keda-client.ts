import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from "node:http2";
import { externalScaler } from "@evenkeel/rpc";

const { ScaledObjectRef, GetMetricsRequest, IsActiveResponse, GetMetricSpecResponse, GetMetricsResponse } =
  externalScaler;

export type Reference = externalScaler.ScaledObjectRef;

/** How a call ended: 0 is OK, 5 NOT_FOUND. */
export interface End {
  readonly status: number;
  readonly message: string;
  /** The error's code, if it has one. */
  readonly code: string | undefined;
}

export class CallFailed extends Error {
  readonly end: End;

  constructor(end: End) {
    super(`${end.status} ${end.message}`);
    this.end = end;
  }
}

/** KEDA's side of the wire, frame by frame: each frame is available as it arrives. */
export class KedaClient implements AsyncDisposable {
  readonly #session: ClientHttp2Session;

  constructor(address: string) {
    this.#session = connect(`http://${address}`);
    this.#session.on("error", () => undefined);
  }

  async isActive(reference: Reference): Promise<boolean> {
    return IsActiveResponse.decode(await this.#ask("IsActive", ScaledObjectRef.encode(reference).finish())).result;
  }

  async metricSpec(reference: Reference): Promise<externalScaler.MetricSpec[]> {
    return GetMetricSpecResponse.decode(await this.metricSpecBytes(reference)).metricSpecs;
  }

  metricSpecBytes(reference: Reference): Promise<Uint8Array> {
    return this.#ask("GetMetricSpec", ScaledObjectRef.encode(reference).finish());
  }

  async metrics(reference: Reference, metricName: string): Promise<externalScaler.MetricValue[]> {
    return GetMetricsResponse.decode(await this.metricsBytes(reference, metricName)).metricValues;
  }

  metricsBytes(scaledObjectRef: Reference, metricName: string): Promise<Uint8Array> {
    return this.#ask("GetMetrics", GetMetricsRequest.encode({ scaledObjectRef, metricName }).finish());
  }

  streamIsActive(reference: Reference): Stream<boolean> {
    const call = this.#call("StreamIsActive", ScaledObjectRef.encode(reference).finish());
    return new Stream(call, (bytes) => IsActiveResponse.decode(bytes).result);
  }

  streamMetricSpec(reference: Reference): Stream<externalScaler.MetricSpec[]> {
    const call = this.#call("StreamMetricSpec", ScaledObjectRef.encode(reference).finish());
    return new Stream(call, (bytes) => GetMetricSpecResponse.decode(bytes).metricSpecs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#session.destroy();
    if (!this.#session.closed) await once(this.#session, "close");
  }

  async #ask(method: string, message: Uint8Array): Promise<Uint8Array> {
    const stream = new Stream(this.#call(method, message), (bytes) => bytes);
    const end = await stream.end;
    const [answer] = stream.messages;
    if (end.status !== 0 || !answer) throw new CallFailed(end);
    return answer.message;
  }

  #call(method: string, message: Uint8Array): ClientHttp2Stream {
    const call = this.#session.request({
      ":method": "POST",
      ":path": `/externalscaler.ExternalScaler/${method}`,
      "content-type": "application/grpc",
      te: "trailers",
    });
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    call.end(Buffer.concat([prefix, message]));
    return call;
  }
}

/** The messages of one call, each with its time of arrival. */
export class Stream<T> {
  readonly messages: { readonly message: T; readonly at: number }[] = [];
  readonly end: Promise<End>;
  readonly #call: ClientHttp2Stream;
  #news = Promise.withResolvers<undefined>();

  constructor(call: ClientHttp2Stream, decode: (bytes: Uint8Array) => T) {
    this.#call = call;
    let rest: Buffer = Buffer.alloc(0);
    call.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
        const length = rest.readUInt32BE(1);
        this.messages.push({ message: decode(rest.subarray(5, 5 + length)), at: performance.now() });
        rest = rest.subarray(5 + length);
      }
      this.#tell();
    });
    const { promise, resolve } = Promise.withResolvers<End>();
    let last: IncomingHttpHeaders = {};
    const note = (headers: IncomingHttpHeaders) => {
      last = { ...last, ...headers };
    };
    call.on("response", note);
    call.on("trailers", note);
    call.on("error", () => undefined);
    call.on("close", () => {
      const message = last["grpc-message"] ?? "";
      resolve({
        status: Number(last["grpc-status"] ?? NaN),
        message: decodeURIComponent(String(message)),
        code: last["evenkeel-code"] === undefined ? undefined : String(last["evenkeel-code"]),
      });
      this.#tell();
    });
    this.end = promise;
  }

  /** The message with this number, once it has arrived. */
  async at(index: number): Promise<{ readonly message: T; readonly at: number }> {
    for (;;) {
      const found = this.messages[index];
      if (found) return found;
      if (this.#call.closed) throw new CallFailed(await this.end);
      await this.#news.promise;
    }
  }

  cancel(): void {
    this.#call.close(8);
  }

  #tell(): void {
    this.#news.resolve(undefined);
    this.#news = Promise.withResolvers();
  }
}

/**
 * A message's fields by number as an older reader sees them: numbers and texts that it knows, and nothing of the rest.
 */
export function wholeFields(bytes: Uint8Array, known: readonly number[]): Readonly<Record<number, unknown>>[] {
  return nested(bytes, 1).map((message) => {
    const fields: Record<number, unknown> = {};
    for (const { field, value } of wire(message)) {
      if (known.includes(field)) fields[field] = value instanceof Uint8Array ? Buffer.from(value).toString() : value;
    }
    return fields;
  });
}

function nested(bytes: Uint8Array, number: number): Uint8Array[] {
  return [...wire(bytes)].flatMap(({ field, value }) =>
    field === number && value instanceof Uint8Array ? [value] : [],
  );
}

/** https://protobuf.dev/programming-guides/encoding/ */
function* wire(bytes: Uint8Array): Generator<{ readonly field: number; readonly value: bigint | Uint8Array }> {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const field = tag >> 3;
    if ((tag & 7) === 0) yield { field, value: varint() };
    else {
      const length = (tag & 7) === 1 ? 8 : Number(varint());
      yield { field, value: bytes.subarray(at, (at += length)) };
    }
  }
}
