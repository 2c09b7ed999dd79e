import { describe, expect, test } from "@jest/globals";
import { ControlPlaneError } from "./errors.ts";
import { retryTakenPorts, startCluster } from "./start.ts";

describe("a start that finds a port taken", () => {
  const taken = new ControlPlaneError("EK_CLUSTER_PORT_TAKEN", "etcd ended");

  test("is retried and succeeds with other ports", async () => {
    const outcomes = [taken, taken, "up"];
    const start = (): Promise<unknown> => {
      const outcome = outcomes.shift();
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
    };
    expect(await retryTakenPorts(5, start)).toBe("up");
  });

  test("is given up after so many tries", async () => {
    let tries = 0;
    const start = (): Promise<never> => {
      tries += 1;
      return Promise.reject(taken);
    };
    await expect(retryTakenPorts(3, start)).rejects.toBe(taken);
    expect(tries).toBe(3);
  });

  test("is not retried for another failure", async () => {
    let tries = 0;
    const exited = new ControlPlaneError("EK_CLUSTER_COMPONENT_EXITED", "etcd ended");
    const start = (): Promise<never> => {
      tries += 1;
      return Promise.reject(exited);
    };
    await expect(retryTakenPorts(3, start)).rejects.toBe(exited);
    expect(tries).toBe(1);
  });
});

test.each([
  [{ name: "Not a label" }, 'the name "Not a label"'],
  [{ name: "../etc" }, 'the name "../etc"'],
  [{ nodes: -1 }, "nodes must be"],
  [{ nodes: { count: 1.5 } }, "nodes must be"],
  [{ apiserverPort: 70_000 }, "apiserverPort must be"],
])("%j is refused before anything is started", async (options, reason) => {
  const start = startCluster(options);
  await expect(start).rejects.toMatchObject({ code: "EK_CLUSTER_OPTION" });
  await expect(start).rejects.toThrow(reason);
});

test("a folder of programs that lacks some is refused with the first path that is missing", async () => {
  const start = startCluster({ toolset: "/nonexistent" });
  await expect(start).rejects.toMatchObject({ code: "EK_CLUSTER_BINARY_MISSING" });
  await expect(start).rejects.toThrow("/nonexistent/bin/etcd");
});
