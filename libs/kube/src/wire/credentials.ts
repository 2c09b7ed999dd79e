import { createHash, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import { createSecureContext } from "node:tls";
import type { KubeConfig, User } from "@kubernetes/client-node";
import { type Clock, CodedError, explain, type Logger, withDeadline } from "@evenkeel/runtime";
import { CredentialFailed, MissingCa, MissingCredential } from "../errors.ts";
import type { Material, Target } from "./kubeconfig.ts";
import { oneLine } from "./status.ts";

/** Milliseconds after which a request reads the credential files again. */
const MAX_AGE = 10_000;

/** Milliseconds that a credential program or issuer may take. */
const PLUGIN_DEADLINE = 60_000;

/** What a connection is opened with. PEM. */
interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
  readonly servername?: string;
  readonly rejectUnauthorized: boolean;
}

/** A target with its files read and its credential programs called. */
export interface Access {
  readonly server: URL;
  readonly namespace: string | undefined;
  readonly proxy: string | undefined;
  readonly tls: TlsMaterial;
  /** Changes when connections must be opened again. */
  readonly connectionKey: string;
  /** Headers that authenticate this process. Never log them. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface CredentialsOptions {
  readonly clock: Clock;
  readonly log?: Logger | undefined;
  readonly readTarget: () => Promise<Target>;
}

/**
 * What a request is authenticated with. Files are read again every ten seconds of use, so that rotated certificates and
 * tokens are used without a restart. While a file cannot be read, its last content stays in use.
 */
export class Credentials {
  readonly #options: CredentialsOptions;
  #access: Access | undefined;
  #readAt = 0;
  #reading: Promise<Access> | undefined;
  #plugin: { readonly user: string; readonly config: KubeConfig } | undefined;

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  /** Where requests go, as messages name it. */
  get server(): string {
    return this.#access?.server.origin ?? "the API server";
  }

  /** At once if it was read in the last ten seconds. */
  access(): Access | Promise<Access> {
    const fresh = this.#options.clock.monotonic() - this.#readAt < MAX_AGE;
    return this.#access !== undefined && fresh ? this.#access : this.#read();
  }

  /**
   * Reads everything again because the server refused `refused`. Resolves with nothing if that gives the same access.
   */
  async renew(refused: Access): Promise<Access | undefined> {
    if (this.#access === refused) {
      this.#plugin = undefined;
      await this.#reading?.catch(() => undefined);
      await this.#read();
    }
    const renewed = await this.access();
    return sameAccess(renewed, refused) ? undefined : renewed;
  }

  #read(): Promise<Access> {
    this.#reading ??= this.#readAll().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readAll(): Promise<Access> {
    const { clock, log, readTarget } = this.#options;
    try {
      const access = await this.#accessOf(await readTarget());
      if (this.#access === undefined || !sameAccess(this.#access, access)) this.#access = access;
    } catch (error) {
      if (this.#access === undefined || !(error instanceof CodedError)) throw error;
      log?.warn({ error }, "credentials could not be read again; the last ones stay in use");
    }
    this.#readAt = clock.monotonic();
    return this.#access;
  }

  async #accessOf(target: Target): Promise<Access> {
    const server = target.server.origin;
    const credential = async (name: string, material: Material | undefined): Promise<Buffer | undefined> => {
      const fault = (text: string, cause?: unknown) =>
        new MissingCredential({ credential: name, server, fault: text }, { cause });
      return material && (await contentOf(material, fault));
    };
    const ca = target.ca && (await contentOf(target.ca, (fault, cause) => new MissingCa({ server, fault }, { cause })));
    const cert = await credential("client certificate", target.certificate);
    const key = await credential("client key", target.key);
    const token = (await credential("token", target.token))?.toString("utf8").trim();
    const given = target.plugin === undefined ? {} : await this.#ask(target.plugin);
    const tls: TlsMaterial = {
      rejectUnauthorized: !target.insecure,
      ...(ca === undefined || target.insecure ? {} : { ca }),
      ...(target.serverName === undefined ? {} : { servername: target.serverName }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(given.cert === undefined ? {} : { cert: given.cert }),
      ...(given.key === undefined ? {} : { key: given.key }),
    };
    checkTls(server, target.ca, tls);
    const authorization =
      given.authorization ??
      (token === undefined ? undefined : `Bearer ${token}`) ??
      (target.basic === undefined ? undefined : `Basic ${target.basic}`);
    return {
      server: target.server,
      namespace: target.namespace,
      proxy: target.proxy,
      tls,
      connectionKey: digest([server, target.proxy, tls]),
      headers: { ...target.headers, ...(authorization === undefined ? {} : { authorization }) },
    };
  }

  /** Calls the kubeconfig's program or issuer through client-node, which caches the credential until it expires. */
  async #ask(user: User): Promise<{ authorization?: string; cert?: string; key?: string }> {
    const identity = JSON.stringify(user);
    if (this.#plugin?.user !== identity) {
      const { KubeConfig } = await import("./client-node.ts");
      const config = new KubeConfig();
      config.loadFromClusterAndUser({ name: "any", server: "https://any", skipTLSVerify: true }, user);
      this.#plugin = { user: identity, config };
    }
    const options: RequestOptions = {};
    try {
      const { config } = this.#plugin;
      const deadline = { clock: this.#options.clock, milliseconds: PLUGIN_DEADLINE, what: "it" };
      await withDeadline(deadline, () => config.applyToHTTPSOptions(options));
    } catch (cause) {
      const plugin = user.exec === undefined ? "auth provider" : "credential program";
      throw new CredentialFailed({ plugin, user: user.name, fault: oneLine(explain(cause)) });
    }
    const { Authorization: authorization } = (options.headers ?? {}) as { Authorization?: string };
    const { cert, key } = options as { cert?: string; key?: string };
    return {
      ...(authorization === undefined ? {} : { authorization }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    };
  }
}

/** When the credential expired, if it has and states so: a 401 does not say it. */
export function expiredCredential({ headers, tls }: Access, now: number): string | undefined {
  const expiry = (what: string, at: number): string | undefined =>
    at <= now ? `the ${what} was valid until ${new Date(at).toISOString()}` : undefined;
  const token = /^Bearer [\w-]+\.([\w-]+)\.[\w-]*$/.exec(headers["authorization"] ?? "")?.[1];
  if (token !== undefined) {
    try {
      const { exp } = JSON.parse(Buffer.from(token, "base64url").toString("utf8")) as { exp?: unknown };
      return typeof exp === "number" ? expiry("token", exp * 1000) : undefined;
    } catch {
      return undefined;
    }
  }
  return tls.cert === undefined
    ? undefined
    : expiry("client certificate", new X509Certificate(tls.cert).validToDate.getTime());
}

/** Checks the key material before any connection is opened, so that the error can name the file. */
function checkTls(server: string, ca: Material | undefined, tls: TlsMaterial): void {
  try {
    if (tls.ca !== undefined) new X509Certificate(tls.ca);
  } catch (cause) {
    const place = ca !== undefined && "file" in ca ? ca.file : "certificate-authority-data";
    throw new MissingCa({ server, fault: `${place} contains no PEM certificate` }, { cause });
  }
  try {
    createSecureContext({ ...(tls.cert && { cert: tls.cert }), ...(tls.key && { key: tls.key }) });
    if (tls.cert !== undefined) new X509Certificate(tls.cert);
  } catch (cause) {
    const fault = `certificate and key do not match or are not PEM (${oneLine(explain(cause))})`;
    throw new MissingCredential({ credential: "client certificate", server, fault }, { cause });
  }
}

async function contentOf(
  material: Material,
  fault: (text: string, cause?: unknown) => CodedError,
): Promise<Buffer | undefined> {
  if ("data" in material) return material.data;
  const { file } = material;
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (cause) {
    const { code = "unreadable" } = cause as NodeJS.ErrnoException;
    throw fault(code === "ENOENT" ? `${file} does not exist` : `${file} cannot be read (${code})`, cause);
  }
  if (content.length === 0) throw fault(`${file} is empty`);
  return content;
}

function sameAccess(a: Access, b: Access): boolean {
  return (
    a.connectionKey === b.connectionKey && a.server.href === b.server.href && digest(a.headers) === digest(b.headers)
  );
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
