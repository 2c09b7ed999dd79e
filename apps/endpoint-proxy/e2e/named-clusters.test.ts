import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubectl, TEST_TIMEOUT_MS, usedRights } from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { renewUnderLoad } from "./renewal.ts";
import { audited, type Name, NAMES, NAMESPACE, ThreeProxies } from "./three-proxies.ts";

jest.setTimeout(TEST_TIMEOUT_MS);

/** A user whom only the API server of east knows, by a token of its own. */
const TINA = { token: "token-of-tina", uid: "uid-of-tina", group: "developers" };
const tokens = mkdtempSync(join(tmpdir(), "endpoint-proxy-tokens-"));
writeFileSync(join(tokens, "tokens.csv"), `${TINA.token},tina,${TINA.uid},${TINA.group}\n`, { mode: 0o600 });
afterAll(() => rmSync(tokens, { recursive: true, force: true }));

/** Ann, tina by her group, and the ServiceAccount robot of east may edit what is in `default`. */
const proxies = new ThreeProxies({
  flags: ["--impersonator-renewal=5s"],
  apiserverFlags: [`--token-auth-file=${join(tokens, "tokens.csv")}`],
  objects: (name) => [
    editors([
      { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" },
      { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: TINA.group },
      { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "east:system:serviceaccount:default:robot" },
      ...(name === "east" ? [{ kind: "ServiceAccount", name: "robot", namespace: "default" }] : []),
    ]),
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot", namespace: "default" } },
  ],
});

function editors(subjects: readonly object[]): object {
  return {
    ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding" },
    metadata: { name: "editors", namespace: "default" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
    subjects,
  };
}

interface Credential {
  readonly credential: string;
  /** The user's name in east, and in the other clusters. */
  readonly here: string;
  readonly there: string;
  readonly members: readonly (Name | undefined)[];
  readonly sign: () => Promise<string[]>;
}

describe.each<Credential>([
  {
    ...{ credential: "certificate", here: "ann", there: "ann", members: [undefined, ...NAMES] },
    sign: () => proxies.certificateOf("ann"),
  },
  {
    ...{ credential: "token", here: "tina", there: "tina", members: [undefined, "west", "south"] },
    sign: () => Promise.resolve([`--token=${TINA.token}`]),
  },
  {
    ...{ credential: "service-account", members: [undefined, "west", "south"] },
    ...{ here: "system:serviceaccount:default:robot", there: "east:system:serviceaccount:default:robot" },
    sign: async () => [`--token=${(await kubectl(proxies.cluster("east"), ["create", "token", "robot"])).trim()}`],
  },
])("kubectl with a $credential, through the proxy of east", ({ credential, here, there, members, sign }) => {
  test.each(members)("applies, gets, watches and deletes in cluster %s as that user", async (member) => {
    const flags = [...proxies.through(member), ...(await sign())];
    const name = `${credential}-${member ?? "own"}`;
    const manifest = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: "1" } });
    const flagsAndFile = ["apply", "-f", "-"];
    expect(await proxies.run(flags, flagsAndFile, manifest)).toMatchObject({
      code: 0,
      stdout: `configmap/${name} created\n`,
    });
    const watch = spawn(join(proxies.cluster("east").bin, "kubectl"), [
      ...["--kubeconfig=/dev/null", ...flags, "get", "configmap", name, "-w", "-o", "jsonpath={.data.a};"],
    ]);
    let seen = "";
    watch.stdout.on("data", (part: Buffer) => (seen += part.toString()));
    await eventually(() => expect(seen).toBe("1;"));
    expect((await proxies.run(flags, flagsAndFile, manifest.replace('"1"', '"2"'))).code).toBe(0);
    await eventually(() => expect(seen).toBe("1;2;"));
    watch.kill();
    expect((await proxies.run(flags, ["get", "configmap", name, "-o", "jsonpath={.data.a}"])).stdout).toBe("2");
    expect((await proxies.run(flags, ["delete", "configmap", name])).code).toBe(0);
    const cluster = proxies.cluster(member ?? "east");
    const user = member === undefined || member === "east" ? here : there;
    const events = audited(cluster, name).filter(({ impersonatedUser }) => impersonatedUser?.username === user);
    expect(events.map(({ verb }) => verb)).toEqual(expect.arrayContaining(["get", "create", "patch", "delete"]));
    if (credential === "token") {
      const { uid, groups } = events[0]?.impersonatedUser ?? {};
      expect({ uid, groups }).toEqual({ uid: TINA.uid, groups: expect.arrayContaining([TINA.group]) });
    }
    expect(new Set(events.map((event) => event.user.username))).toEqual(
      new Set([`system:serviceaccount:${NAMESPACE}:endpoint-proxy-impersonator`]),
    );
    // Without a cluster's name, what the own cluster lacks is looked for in the others, to say where it is.
    const expected = (verb: string) => member === undefined && verb === "get";
    for (const other of NAMES.filter((one) => one !== (member ?? "east"))) {
      expect(audited(proxies.cluster(other), name).filter(({ verb }) => !expected(verb))).toEqual([]);
    }
  });
});

test("who lacks a right in a member reads there what kube-apiserver tells them directly", async () => {
  const { certificate, key } = await proxies.cluster("west").clientCertificate({ user: "eve", groups: [] });
  const direct = await proxies.run(
    [
      ...[`--server=${proxies.cluster("west").server}`, `--certificate-authority=${proxies.cluster("west").caFile}`],
      ...[`--client-certificate=${certificate}`, `--client-key=${key}`],
    ],
    ["get", "secrets"],
  );
  const proxied = await proxies.run(
    [...proxies.through("west"), ...(await proxies.certificateOf("eve"))],
    ["get", "secrets"],
  );
  expect(proxied).toMatchObject({ code: 1, stderr: direct.stderr });
});

test("kubectl prints one sentence with its code for a certificate of another cluster, and for an unknown cluster", async () => {
  const { certificate, key } = await proxies.cluster("west").clientCertificate({ user: "ann", groups: [] });
  const foreign = await proxies.run(
    [...proxies.through(undefined), `--client-certificate=${certificate}`, `--client-key=${key}`],
    ["get", "configmaps"],
  );
  expect(foreign.stderr).toContain("EK_PROXY_CERTIFICATE_REFUSED");
  // Discovery of a cluster that is not there fails in kubectl's own words, so the path is asked for as it is.
  const raw = ["get", "--raw", "/clusters/nowhere/version"];
  const unknown = await proxies.run([...proxies.through(undefined), ...(await proxies.certificateOf("ann"))], raw);
  expect(unknown.stderr).toContain("EK_PROXY_UNKNOWN_CLUSTER");
});

test("every certificate, authority and token is renewed under load without a failed request", async () => {
  const { certificate, key } = await proxies.cluster("east").clientCertificate({ user: "ann", groups: [] });
  const pair = { cert: readFileSync(certificate, "utf8"), key: readFileSync(key, "utf8") };
  const counts = await renewUnderLoad(proxies, { token: TINA.token, pair });
  expect(Array.from(counts.keys())).toEqual(["200"]);
});

test("the rights of the chart suffice in all three clusters", async () => {
  for (const name of NAMES) {
    const { refused, allowedElsewhere } = await usedRights(proxies.cluster(name), "endpoint-proxy", "impersonator");
    expect(refused).toEqual([]);
    expect(allowedElsewhere).toEqual([]);
  }
});
