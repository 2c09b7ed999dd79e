import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";

/** Connections to AWS that all clients share. They go through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name. */
export class AwsConnections {
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    const options = { keepAlive: true, maxSockets: 16, proxyEnv: { ...env } };
    this.#http = new HttpAgent(options);
    this.#https = new HttpsAgent(options);
  }

  /** What a client of the SDK takes as its request handler. Such a client must not be destroyed: that would end these for all. */
  get requestHandler(): { readonly httpAgent: HttpAgent; readonly httpsAgent: HttpsAgent } {
    return { httpAgent: this.#http, httpsAgent: this.#https };
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}
