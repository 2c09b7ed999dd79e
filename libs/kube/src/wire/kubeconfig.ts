import { readFile } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import type { User } from "@kubernetes/client-node";
import type { Environment } from "@evenkeel/runtime";
import { BadKubeconfig, NoCluster } from "../errors.ts";
import { isObject, oneLine } from "./status.ts";

/** Content in a kubeconfig, or in a file that it names. */
export type Material = { readonly file: string } | { readonly data: Buffer };

/**
 * Where the API server is and how this process authenticates: from one context of a kubeconfig, from a pod's service
 * account, or given in code.
 */
export interface Target {
  readonly server: URL;
  readonly namespace: string | undefined;
  readonly ca: Material | undefined;
  /** The name that the server's certificate must contain, if it is not the host's. */
  readonly serverName: string | undefined;
  readonly insecure: boolean;
  readonly proxy: string | undefined;
  readonly certificate: Material | undefined;
  readonly key: Material | undefined;
  readonly token: Material | undefined;
  readonly basic: string | undefined;
  /** Sent with every request, by names in lower case: a kubeconfig's Impersonate-User, or what the code gives. */
  readonly headers: Readonly<Record<string, string>>;
  /** A kubeconfig user whose credentials come from a program or an OIDC issuer. */
  readonly plugin: User | undefined;
}

export interface TargetOptions {
  /** One or more files, as in KUBECONFIG: the first file that defines a name wins, and missing files are skipped. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly env: Environment;
  /** Where a pod finds its token, certificate authority and namespace. */
  readonly serviceAccount?: string | undefined;
}

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Reads the target: from a kubeconfig if one is named, else from the pod's service account, else from ~/.kube/config.
 */
export async function readTarget(options: TargetOptions): Promise<Target> {
  const { kubeconfig, context, env, serviceAccount = SERVICE_ACCOUNT } = options;
  if (kubeconfig) return readKubeconfig(kubeconfig.split(delimiter).filter(Boolean), context);
  const host = env["KUBERNETES_SERVICE_HOST"];
  if (host) return podTarget(host, env["KUBERNETES_SERVICE_PORT"] ?? "443", serviceAccount);
  const file = join(env["HOME"] ?? ".", ".kube", "config");
  if ((await readIfThere(file)) === undefined) throw new NoCluster({ file });
  return readKubeconfig([file], context);
}

async function podTarget(host: string, port: string, folder: string): Promise<Target> {
  const namespace = await readIfThere(join(folder, "namespace"));
  return {
    server: new URL(`https://${host.includes(":") ? `[${host}]` : host}:${port}`),
    namespace: namespace?.trim(),
    ca: { file: join(folder, "ca.crt") },
    token: { file: join(folder, "token") },
    ...{ serverName: undefined, insecure: false, proxy: undefined, certificate: undefined, key: undefined },
    ...{ basic: undefined, headers: {}, plugin: undefined },
  };
}

type Fields = Readonly<Record<string, unknown>>;

interface Entries {
  readonly file: string;
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, Fields>;
  readonly users: ReadonlyMap<string, Fields>;
  readonly contexts: ReadonlyMap<string, Fields>;
}

async function readKubeconfig(files: readonly string[], wanted: string | undefined): Promise<Target> {
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readIfThere(file) })));
  const found = texts.flatMap(({ file, text }) => (text === undefined ? [] : [{ file, text }]));
  const all = files.join(delimiter);
  if (found.length === 0) throw new BadKubeconfig({ file: all, fault: "the file does not exist" });
  const entries = await Promise.all(found.map(({ file, text }) => parseEntries(file, text)));
  const find = (kind: "clusters" | "users" | "contexts", name: string, asker: string): [Fields, string] => {
    for (const entry of entries) {
      const fields = entry[kind].get(name);
      if (fields !== undefined) return [fields, entry.file];
    }
    throw new BadKubeconfig({ file: all, fault: `${asker} "${oneLine(name)}", which is not in ${kind}` });
  };
  const name = wanted ?? entries.find(({ currentContext }) => currentContext !== "")?.currentContext;
  if (name === undefined) {
    throw new BadKubeconfig({ file: all, fault: "it has no current-context, and --kube-context is not set" });
  }
  const [context] = find("contexts", name, wanted === undefined ? "its current-context is" : "--kube-context is");
  const clusterName = text(context["cluster"]) ?? "";
  const userName = text(context["user"]);
  const [cluster, clusterFile] = find("clusters", clusterName, `context ${name} names cluster`);
  const [user, userFile] = userName === undefined ? [{}, all] : find("users", userName, `context ${name} names user`);
  return {
    namespace: text(context["namespace"]),
    ...clusterPart(clusterName, cluster, clusterFile),
    ...userPart(userName ?? "", user, userFile),
  };
}

function clusterPart(
  name: string,
  cluster: Fields,
  file: string,
): Pick<Target, "server" | "ca" | "serverName" | "insecure" | "proxy"> {
  const address = text(cluster["server"]) ?? "";
  const server = URL.parse(address);
  if (server === null || !["http:", "https:"].includes(server.protocol)) {
    const fault =
      address === "" ? "has no server" : `has the server "${oneLine(address)}", which is not an http(s) URL`;
    throw new BadKubeconfig({ file, fault: `cluster ${name} ${fault}` });
  }
  return {
    server,
    ca: material(cluster, "certificate-authority", file),
    serverName: text(cluster["tls-server-name"]),
    insecure: cluster["insecure-skip-tls-verify"] === true,
    proxy: text(cluster["proxy-url"]),
  };
}

function userPart(
  name: string,
  user: Fields,
  file: string,
): Pick<Target, "certificate" | "key" | "token" | "basic" | "headers" | "plugin"> {
  const token = text(user["token"]);
  const tokenFile = text(user["tokenFile"]);
  const username = text(user["username"]);
  const impersonated = text(user["as"]);
  for (const field of ["as-groups", "as-uid", "as-user-extra"]) {
    // Ignoring it would act with other rights than the user meant.
    if (user[field] !== undefined)
      throw new BadKubeconfig({ file, fault: `user ${name} has ${field}, which is not supported` });
  }
  const plugin = isObject(user["exec"]) || isObject(user["auth-provider"]);
  return {
    certificate: material(user, "client-certificate", file),
    key: material(user, "client-key", file),
    // The file wins, as in kubectl, because it is the one that rotates.
    token:
      tokenFile !== undefined
        ? { file: relativeTo(file, tokenFile) }
        : token === undefined
          ? undefined
          : { data: Buffer.from(token) },
    basic:
      username === undefined
        ? undefined
        : Buffer.from(`${username}:${text(user["password"]) ?? ""}`).toString("base64"),
    headers: impersonated === undefined ? {} : { "impersonate-user": impersonated },
    plugin: plugin ? { name, exec: user["exec"], authProvider: user["auth-provider"] } : undefined,
  };
}

/** `<key>-data` in the kubeconfig itself, or the file that `<key>` names, relative to the kubeconfig. */
function material(fields: Fields, key: string, kubeconfig: string): Material | undefined {
  const data = text(fields[`${key}-data`]);
  if (data !== undefined) return { data: Buffer.from(data, "base64") };
  const file = text(fields[key]);
  return file === undefined ? undefined : { file: relativeTo(kubeconfig, file) };
}

function relativeTo(kubeconfig: string, file: string): string {
  return isAbsolute(file) ? file : join(dirname(kubeconfig), file);
}

async function parseEntries(file: string, yaml: string): Promise<Entries> {
  // Loaded here and not at startup, because a pod with a service account does not need it.
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error) {
    // The error's code and not its message, which may quote the text around the fault, and that may be a key.
    const what = error.code.toLowerCase().replaceAll("_", " ");
    throw new BadKubeconfig({ file, fault: `it is not YAML in line ${lines.linePos(error.pos[0]).line}: ${what}` });
  }
  const config: unknown = document.toJS();
  if (!isObject(config))
    throw new BadKubeconfig({ file, fault: "it is not a mapping with clusters, users and contexts" });
  const named = (list: string, key: string): ReadonlyMap<string, Fields> => {
    const entries = config[list] ?? [];
    if (!Array.isArray(entries)) throw new BadKubeconfig({ file, fault: `${list} is not a list` });
    return new Map(
      entries.map((entry: unknown, index): [string, Fields] => {
        const name = isObject(entry) ? text(entry["name"]) : undefined;
        const fields = isObject(entry) ? (entry[key] ?? {}) : undefined;
        if (name === undefined || !isObject(fields)) {
          throw new BadKubeconfig({ file, fault: `${list}[${index}] has no name or no ${key}` });
        }
        return [name, fields];
      }),
    );
  };
  return {
    file,
    currentContext: text(config["current-context"]) ?? "",
    clusters: named("clusters", "cluster"),
    users: named("users", "user"),
    contexts: named("contexts", "context"),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new BadKubeconfig({ file, fault: `it cannot be read (${code ?? "unknown"})` }, { cause });
  }
}
