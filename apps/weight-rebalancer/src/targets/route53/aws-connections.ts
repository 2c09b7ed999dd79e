import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";

/**
 * Connections to AWS that all clients share. They go through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name.
 */
export class AwsConnections {
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    const options = { keepAlive: true, maxSockets: 16, proxyEnv: { ...env } };
    this.#http = new HttpAgent(options);
    this.#https = new HttpsAgent(options);
  }

  /**
   * The request handler for clients of the SDK. Such a client must not be destroyed, because that would close the
   * connections of all clients.
   */
  get requestHandler(): { readonly httpAgent: HttpAgent; readonly httpsAgent: HttpsAgent } {
    return { httpAgent: this.#http, httpsAgent: this.#https };
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}
