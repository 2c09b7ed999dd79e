import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiServer, startApiServer, type User } from "@evenkeel/sim";
import { kubeconfigFor } from "@evenkeel/testkit";

/** May do everything. */
export const admin: User = { name: "admin", groups: ["system:masters"], token: "admin-token" };

/** May do what everybody may: ask for its own rights. */
export const guest: User = { name: "guest", token: "guest-token" };

/** What every cluster grants to everybody whom it knows. */
const basicUser = [
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "system:basic-user" },
    rules: [{ apiGroups: ["authorization.k8s.io"], resources: ["selfsubjectaccessreviews"], verbs: ["create"] }],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "system:basic-user" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:basic-user" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:authenticated" }],
  },
];

/**
 * What `services/proxy` leads to: `namespace/service:port`, with `https:` before it if the port speaks TLS → address.
 */
export type Backends = Map<string, string>;

/** The embedded API server, with the part that it leaves out: it forwards what is sent to services/proxy. */
export class ApiServerWithProxy implements AsyncDisposable {
  readonly api: ApiServer;
  /** Every forwarded request: its user's token, method and path. */
  readonly forwarded: string[];
  readonly #folder: string;

  private constructor(api: ApiServer, folder: string, forwarded: string[]) {
    this.api = api;
    this.#folder = folder;
    this.forwarded = forwarded;
  }

  static async start(backends: Backends): Promise<ApiServerWithProxy> {
    const forwarded: string[] = [];
    const api = await startApiServer({
      users: [admin, guest],
      faults: (incoming, response) => {
        const [, namespace, scheme, service, port, path] =
          /^\/api\/v1\/namespaces\/([^/]+)\/services\/(https?):([^:/]+):([^/]+)\/proxy(\/.*)$/.exec(
            incoming.url ?? "",
          ) ?? [];
        const name = `${namespace ?? ""}/${service ?? ""}:${port ?? ""}`;
        const backend = backends.get(scheme === "https" ? `https:${name}` : name);
        if (backend === undefined || path === undefined) return "pass";
        forwarded.push(`${incoming.headers.authorization ?? "nobody"} ${incoming.method ?? ""} ${path}`);
        forward(incoming, response, `${backend}${path}`);
        return "handled";
      },
    });
    for (const object of basicUser) api.load(JSON.stringify(object));
    return new ApiServerWithProxy(api, await mkdtemp(join(tmpdir(), "cli-api-")), forwarded);
  }

  /** The path of a kubeconfig of a user. */
  async kubeconfig({ name, token }: User): Promise<string> {
    const file = join(this.#folder, `${name}.kubeconfig`);
    await writeFile(file, kubeconfigFor(this.api.url, { token }));
    return file;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.api.stop();
    await rm(this.#folder, { recursive: true });
  }
}

/** As kube-apiserver does it: the caller's token stays behind, and a backend that is away is a Status. */
function forward(incoming: IncomingMessage, response: ServerResponse, url: string): void {
  const kept = ["accept", "content-type", "content-length"];
  const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => kept.includes(name)));
  const onward = request(url, { method: incoming.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", (error) => {
    const message = `error trying to reach service: ${error.message}`;
    response.writeHead(503, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ kind: "Status", status: "Failure", message, reason: "ServiceUnavailable", code: 503 }),
    );
  });
  response.on("close", () => onward.destroy());
  incoming.pipe(onward);
}
