import type { Material, Target } from "./kubeconfig.ts";

/** An API server that is given in code. Certificates and keys are PEM. */
export interface GivenTarget {
  /** `https:` or `http:`. Its path stands in front of every path of the API. */
  readonly server: URL;
  /** The authorities of the server's certificate; default those of Node. */
  readonly ca?: Buffer | string | undefined;
  /** This client's certificate, with `key`. */
  readonly cert?: Buffer | string | undefined;
  readonly key?: Buffer | string | undefined;
  /** The name that the server's certificate must contain, if it is not the host's. */
  readonly servername?: string | undefined;
  /** Sent with every request, by names in lower case: `authorization`, for example. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function targetOf({ server, ca, cert, key, servername, headers = {} }: GivenTarget): Target {
  return {
    ...{ server, ca: material(ca), certificate: material(cert), key: material(key), headers },
    ...{ serverName: servername, insecure: false, namespace: undefined, proxy: undefined },
    ...{ token: undefined, basic: undefined, plugin: undefined },
  };
}

function material(content: Buffer | string | undefined): Material | undefined {
  return content === undefined ? undefined : { data: Buffer.from(content) };
}
