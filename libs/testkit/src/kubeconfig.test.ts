import { describe, expect, test } from "@jest/globals";
import { startApiServer } from "@evenkeel/sim";
import { ADMIN, definitionOf, kubeconfigFor } from "./index.ts";

interface Config {
  readonly clusters: readonly { readonly cluster: object }[];
  readonly users: readonly { readonly user: { readonly token?: string } }[];
}

describe("a kubeconfig", () => {
  test("has the server, and the administrator's token unless told", () => {
    const parsed = (text: string) => JSON.parse(text) as Config;
    const server = "http://127.0.0.1:1";
    expect(parsed(kubeconfigFor(server)).users[0]?.user).toEqual({ token: ADMIN.token });
    expect(parsed(kubeconfigFor(server, { token: "other" })).users[0]?.user).toEqual({ token: "other" });
    expect(parsed(kubeconfigFor(server, { token: null })).users[0]?.user).toEqual({});
    expect(parsed(kubeconfigFor(server, { authority: "/ca.crt" })).clusters[0]?.cluster).toEqual({
      server,
      "certificate-authority": "/ca.crt",
    });
  });
});

describe("a definition", () => {
  test("is the one that the charts install", async () => {
    const api = await startApiServer({ users: [ADMIN] });
    api.load(definitionOf("rebalances"));
    const answer = await fetch(`${api.url}/apis/rebalancer.ch1aki.github.io/v1/rebalances`, {
      headers: { authorization: `Bearer ${ADMIN.token}` },
    });
    expect(answer.status).toBe(200);
    await api.stop();
  });

  test("of a kind that no chart has is refused", () => {
    expect(() => definitionOf("nothings")).toThrow("nothings");
  });
});
