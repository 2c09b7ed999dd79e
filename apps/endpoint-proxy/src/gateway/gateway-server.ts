import { type Counts, Forwarder, type Listener, type Router } from "@evenkeel/forward";
import type { MetricRegistry } from "@evenkeel/metrics";
import type { CertificateFiles } from "@evenkeel/rpc";
import { type Clock, type Logger, type Server, toError } from "@evenkeel/runtime";
import type { Authorities } from "./authentication/authorities.ts";
import { IDENTITY_HEADERS } from "./gateway-request.ts";
import { wordRefusal } from "./refused.ts";

export interface GatewayServerOptions {
  readonly settings: {
    readonly listenHost: string | undefined;
    readonly port1: number;
    readonly port2: number;
    readonly maxHeadBytes: number;
    readonly headTimeout: number;
  };
  readonly usersRouter: Router;
  readonly peersRouter: Router;
  /** Of both ports. Started before this server. */
  readonly certificates: Pick<CertificateFiles, "current" | "onChange">;
  /** The authorities of users' and of peers' certificates. */
  readonly users: Pick<Authorities, "pem">;
  readonly peers: Pick<Authorities, "pem">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricRegistry;
}

/**
 * The ports for users and for peers. Both ask for a client certificate and accept connections without a valid one: such
 * requests get 401 as a Status, or bring a token.
 */
export class GatewayServer implements Server {
  readonly name = "gateway";
  readonly #options: GatewayServerOptions;
  readonly #forwarder: Forwarder;
  #peers: Listener | undefined;

  constructor(options: GatewayServerOptions) {
    const { settings, usersRouter, clock, log, registry } = options;
    this.#options = options;
    this.#forwarder = new Forwarder({
      ...{ name: "users", host: settings.listenHost, port: settings.port1, flag: "port1", router: usersRouter },
      tls: { requestCert: true, rejectUnauthorized: false, minVersion: "TLSv1.2" },
      limits: { headBytes: settings.maxHeadBytes, headTime: settings.headTimeout, probe: 0 },
      ...{ strip: IDENTITY_HEADERS, word: wordRefusal, proxy: "endpoint-proxy", clock, log, registry },
    });
  }

  /** The port for users. */
  get port(): number {
    return this.#forwarder.port;
  }

  get peersPort(): number {
    return this.#peers?.port ?? 0;
  }

  counts(): Counts {
    return this.#forwarder.counts();
  }

  async start(): Promise<void> {
    const { settings, peersRouter, certificates, users, peers } = this.#options;
    const { cert, key } = certificates.current;
    const own = { ...(cert && { cert }), ...(key && { key }) };
    this.#forwarder.renew({ ...own, ca: authoritiesOf(users) });
    await this.#forwarder.start();
    const tls = {
      ...own,
      ca: authoritiesOf(peers),
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: "TLSv1.2",
    } as const;
    const about = { name: "peers", host: settings.listenHost, port: settings.port2, flag: "port2" };
    this.#peers = await this.#forwarder.listen({ ...about, tls }, peersRouter);
    certificates.onChange(() => this.renew());
    // What changed between the start of the sources and now.
    this.renew();
  }

  /** Uses the present certificates and authorities for new connections. Requests on open ones are judged again. */
  renew(): void {
    const { certificates, users, peers, log } = this.#options;
    const { cert, key } = certificates.current;
    if (cert === undefined || key === undefined) return;
    try {
      this.#forwarder.renew({ cert, key, ca: authoritiesOf(users) });
      this.#peers?.renew({ cert, key, ca: authoritiesOf(peers) });
    } catch (thrown) {
      log.error({ error: toError(thrown) }, "renewed certificates cannot be used; the last ones stay in use");
    }
  }

  drain(deadline: AbortSignal): Promise<number> {
    return this.#forwarder.drain(deadline);
  }

  stop(deadline: AbortSignal): Promise<void> {
    return this.#forwarder.stop(deadline);
  }
}

/** No authority at all is a list, because an empty text is not PEM. */
function authoritiesOf({ pem }: Pick<Authorities, "pem">): string | string[] {
  return pem.trim() === "" ? [] : pem;
}
