import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Stage } from "../testing/stage.ts";
import { healthRoutes } from "./health-routes.ts";
import { HttpServer } from "./http-server.ts";

let server: HttpServer;
let stage: Stage;
beforeEach(async () => {
  stage = new Stage();
  server = new HttpServer({ name: "health", host: "127.0.0.1", port: 0, flag: "health-port" });
  healthRoutes(server.routes, stage.lifecycle);
  await server.start();
});
afterEach(() => server.stop(AbortSignal.abort()));

async function ask(path: string): Promise<[number, string]> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  return [response.status, await response.text()];
}

test.each(["/livez", "/healthz"])("%s says ok in every phase, ready or not", async (path) => {
  stage.open("server", () => new Promise(() => undefined));
  stage.use("cache", { unready: () => "cold" });
  expect(await ask(path)).toEqual([200, "ok\n"]);
  await stage.run();
  expect(await ask(path)).toEqual([200, "ok\n"]);
  await stage.signal("SIGTERM", 10);
  expect(stage.lifecycle.phase).toBe("stopping");
  expect(await ask(path)).toEqual([200, "ok\n"]);
});

test("/readyz says ok once the process runs and stops saying so with the signal", async () => {
  stage.open("server", () => new Promise(() => undefined));
  expect(await ask("/readyz")).toEqual([503, "lifecycle: starting\n"]);
  await stage.run();
  expect(await ask("/readyz")).toEqual([200, "ok\n"]);
  await stage.signal("SIGTERM", 10);
  expect(await ask("/readyz")).toEqual([503, "lifecycle: stopping\n"]);
});

test("/readyz gives each reason a line of its own", async () => {
  stage.use("cache", { unready: () => "cold" });
  stage.use("lease", { unready: () => "not held" });
  await stage.run();
  expect(await ask("/readyz")).toEqual([503, "cache: cold\nlease: not held\n"]);
});
