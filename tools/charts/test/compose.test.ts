import { mkdtempSync, existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceProcess } from "@evenkeel/testkit";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { root } from "../src/places.ts";
import { runAsImage } from "./image-process.ts";

interface Compose {
  readonly services: Readonly<Record<string, Part>>;
}

interface Part {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const { services } = parse(readFileSync(join(root, "docker-compose.yml"), "utf8")) as Compose;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "compose-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/**
 * A command of docker-compose.yml as this machine has its places; state stays in memory, since Redis has tests of its
 * own.
 */
function here(service: string): readonly string[] {
  return (services[service]?.command ?? [])
    .map((word) => word.replace("/run/world", folder).replace("redis://redis:6379", "sqlite::memory:"))
    .map((word) => word.replace(/^\/app\//, join(root, `apps/${service}/dist/`)));
}

test("in the world of docker-compose.yml the service decides about a weight and says so on its port", async () => {
  const [node, program = "", ...args] = here("world");
  expect(node).toBe("node");
  const fits = (line: string) => line.startsWith("the world is at");
  await using world = await runAsImage([join(root, program), ...args], { cwd: root, env: {}, fits, asRoot: true });
  expect(world.line).toMatch(/^the world is at http:/);
  expect(existsSync(join(folder, "kubeconfig"))).toBe(true);

  const [main = "", ...flags] = here("weight-rebalancer");
  const env = { ...services["weight-rebalancer"]?.environment };
  await using service = ServiceProcess.start(main, [...flags, "--grpc-port=0"], { env });
  const { decision, object } = await service.line((line) => line["decision"] !== undefined);
  expect(decision).toEqual(expect.any(String));
  expect(String(object)).toContain("shop");
  const answer = await fetch(await service.url("admin", "/api/v1/Weights/Get"), {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json" },
  });
  expect(await answer.json()).toMatchObject({ weights: [{ rebalance: { namespace: "default", name: "shop" } }] });
}, 60_000);

test("in the world of docker-compose.yml scale-resolver looks after a service that sleeps, on ports of its own", async () => {
  const [, program = "", ...args] = here("world");
  const fits = (line: string) => line.startsWith("the world is at");
  await using world = await runAsImage([join(root, program), ...args], { cwd: root, env: {}, fits, asRoot: true });
  expect(world.line).toMatch(/^the world is at http:/);
  const ports = (service: string) => here(service).filter((word) => /^--[a-z]+-port=/.test(word));
  expect(ports("scale-resolver")).toEqual(["--admin-port=8180", "--health-port=8181", "--grpc-port=9190"]);
  const [main = "", ...flags] = here("scale-resolver").filter((word) => !ports("scale-resolver").includes(word));
  await using service = ServiceProcess.start(main, [...flags, "--grpc-port=0", "--port=0"], { env: {} });
  const { object } = await service.line((line) => line["decision"] !== undefined);
  expect(object).toBe("ElastiService/default/reports");
}, 60_000);
