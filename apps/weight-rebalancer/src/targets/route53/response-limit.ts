import { pipeline, Readable, Transform } from "node:stream";
import type { Route53Client } from "@aws-sdk/client-route-53";

/** Bytes of a response, at most: a full page of the longest records is smaller. */
const MOST_BYTES = 16 * 2 ** 20;

/**
 * Makes calls of the client fail and cuts their connection when a response is longer. Any tenant can name an endpoint.
 */
export function limitResponses({ middlewareStack }: Pick<Route53Client, "middlewareStack">): void {
  middlewareStack.add(
    (next) => async (call) => {
      const result = await next(call);
      const response = result.response as { body?: unknown };
      if (response.body instanceof Readable) response.body = limited(response.body);
      return result;
    },
    { step: "deserialize", priority: "low", name: "limitResponses" },
  );
}

function limited(body: Readable): Readable {
  let bytes = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) done(new Error(`the response is longer than ${MOST_BYTES} bytes`));
      else done(null, chunk);
    },
  });
  // The reader of the counter gets the error.
  return pipeline(body, counter, () => undefined);
}
