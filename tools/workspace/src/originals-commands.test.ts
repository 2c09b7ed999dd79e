import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";

import { documentedCommands } from "./documented-commands.ts";
import { readProjects } from "./projects.ts";

const root = join(import.meta.dirname, "../../..");

const services = readProjects()
  .filter(({ layer }) => layer === "app")
  .map(({ name }) => name);

/** What make would run, or the message and status with which it refuses. */
function make(args: readonly string[], isDry = true) {
  const flags = ["--no-print-directory", "--assume-old=node_modules/.installed", ...(isDry ? ["--dry-run"] : [])];
  const { stdout, stderr, status } = spawnSync("make", [...flags, ...args], {
    ...{ cwd: root, encoding: "utf8" },
    // A bash whose standard input is a socket, as Node's pipes are, reads the user's start-up files.
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { stdout, stderr, status };
}

describe("the commands of the originals", () => {
  test.each([
    [
      "install",
      ["SERVICE=scale-resolver"],
      "kubectl apply --server-side --filename charts/scale-resolver/files/crds\n",
    ],
    [
      "uninstall",
      ["SERVICE=scale-resolver"],
      "delete --ignore-not-found --filename charts/scale-resolver/files/crds\n",
    ],
    ["undeploy", [], "helm uninstall evenkeel --namespace evenkeel-system"],
    ["build-installer", ["SERVICE=weight-rebalancer"], "helm template weight-rebalancer charts/weight-rebalancer"],
    [
      "build-installer",
      ["SERVICE=weight-rebalancer", "IMG=registry:5000/team/rebalancer:1.2"],
      "--set image.repository=registry:5000/team/rebalancer --set-string image.tag=1.2",
    ],
    [
      "docker-build",
      ["SERVICE=eviction-planner", "IMG=registry/planner:1", "ENGINE=docker"],
      "docker build --build-arg SERVICE=eviction-planner --file infra/docker/Dockerfile --tag registry/planner:1 .",
    ],
    [
      "docker-push",
      ["SERVICE=eviction-planner", "IMG=registry/planner:1", "ENGINE=docker"],
      "docker push registry/planner:1",
    ],
    ["docker-registry", ["SERVICE=eviction-planner", "IMG=a/b:1", "ENGINE=buildah"], "buildah push a/b:1"],
    ["docker-publish", ["SERVICE=eviction-planner", "IMG=a/b:1", "ENGINE=buildah"], "buildah push a/b:1"],
    ["clb-docker", [], "SERVICE=collector-scheduler"],
    ["run", ["SERVICE=endpoint-proxy"], "node apps/endpoint-proxy/src/main.ts"],
    ["start", [], "kind create cluster"],
    ["deploy", ["SERVICE=endpoint-proxy", "IMG=a/b:1"], "deploy endpoint-proxy --image"],
  ])("make %s %j", (target, args, expected) => {
    const { stdout, stderr, status } = make([target, ...args]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toContain(expected);
  });

  test("make install without SERVICE applies the definitions of every service", () => {
    const { stdout } = make(["install"]);
    const applied = [...stdout.matchAll(/charts\/([a-z-]+)\/files\/crds/g)].map(([, service]) => service);
    expect(applied.toSorted()).toEqual(services);
  });

  test.each([
    [["docker-push"], "SERVICE="],
    [["docker-push", "SERVICE=endpoint-proxy", "IMG=a/b:1", "ENGINE="], "docker or buildah"],
    [["docker-build", "IMG=a/b:1"], "SERVICE="],
    [["run"], "SERVICE="],
  ])("make %j says what it needs", (args, expected) => {
    const { stderr, status } = make(args, false);
    expect(status).not.toBe(0);
    expect(stderr).toContain(expected);
  });
});

describe("the migration pages", () => {
  const pages = globSync("docs/**/*.md", { cwd: root }).map((page) => readFileSync(join(root, page), "utf8"));

  test("take over the definitions of one original, never of all", () => {
    const takeovers = pages.flatMap(documentedCommands).filter((command) => command.includes("--take-ownership"));
    expect(takeovers.length).toBeGreaterThan(3);
    for (const command of takeovers) expect(command).not.toContain("charts/evenkeel");
  });

  const hasJq = spawnSync("jq", ["--version"]).status === 0;
  const testJq = hasJq ? test : test.skip;
  testJq(
    `find the namespaces of Rebalances without a Secret, and allow these alone${hasJq ? "" : " (needs jq)"}`,
    () => {
      const [, command = ""] =
        /allows them:\n\n([^]*?\}")\n/.exec(readFileSync(join(root, "docs/services/weight-rebalancer.md"), "utf8")) ??
        [];
      const secretRef = { accessKeyIDSecretRef: { name: "aws", key: "id" } };
      const object = (namespace: string, spec: object) => ({ metadata: { namespace, name: "x" }, spec });
      const items = [
        object("keyed", { target: { route53: { auth: { secretRef } } } }),
        object("ambient", { target: { route53: { hostedZoneID: "Z1" } } }),
        object("role", { targets: [{ httpRoute: {} }, { route53: { auth: { assumeRole: { roleARN: "r" } } } }] }),
        object("ambient", { target: { route53: {} } }),
        object("route", { target: { httpRoute: { name: "shop" } } }),
      ];
      const folder = mkdtempSync(join(tmpdir(), "migration-"));
      try {
        writeFileSync(join(folder, "rebalances.json"), JSON.stringify({ items }));
        writeFileSync(join(folder, "kubectl"), `#!/bin/sh\ncat ${folder}/rebalances.json\n`, { mode: 0o755 });
        writeFileSync(join(folder, "helm"), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
        const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
        const { stdout } = spawnSync("bash", ["-c", command], { env, encoding: "utf8" });
        expect(stdout.split("\n")).toContain("settings.allowAmbientCredentials={ambient,role}");
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
