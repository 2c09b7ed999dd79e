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

  async route(exchange: Exchange): Promise<Destination> {
    const request = new GatewayRequest(exchange, this.options);
    try {
      return await this.destination(request);
    } catch (error) {
      return refused(request, error);
    }
  }

  retry(exchange: Exchange, failure: Failure): Destination | undefined {
    return retryForward(exchange, failure);
  }

  /** What it throws becomes a refusal. */
  protected abstract destination(request: GatewayRequest): Promise<Destination>;
}
