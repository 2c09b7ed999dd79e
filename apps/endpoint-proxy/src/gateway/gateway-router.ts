import type { Destination, Exchange, Failure, Router } from "@evenkeel/forward";
import { retryForward } from "./forwarding.ts";
import { GatewayRequest, type GatewayRequestOptions } from "./gateway-request.ts";
import { refused } from "./refused.ts";

/** What both ports have in common: every request has one line in the audit log, and every refusal is a Status. */
export abstract class GatewayRouter<Options extends GatewayRequestOptions> implements Router {
  protected readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }

  /** At once if nothing has to be asked, as for most requests. */
  route(exchange: Exchange): Destination | Promise<Destination> {
    const request = new GatewayRequest(exchange, this.options);
    try {
      const destination = this.destination(request);
      if (!(destination instanceof Promise)) return destination;
      return destination.catch((error: unknown) => refused(request, error));
    } catch (error) {
      return refused(request, error);
    }
  }

  retry(exchange: Exchange, failure: Failure): Destination | undefined {
    return retryForward(exchange, failure);
  }

  /** What it throws or rejects with becomes a refusal. */
  protected abstract destination(request: GatewayRequest): Destination | Promise<Destination>;
}
