import { describe, expect, test } from "@jest/globals";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { CodedError } from "@evenkeel/runtime";
import type { WatchEvent, WatchOptions } from "../objects/resource.ts";
import { type ConfigMap, configMaps } from "../objects/resource-types.ts";
import { answerJson, ScriptedServer, statusBody } from "../testing/scripted-server.ts";
import { testClient, TestFolder } from "../testing/test-client.ts";

function added(name: string, data: Record<string, string> = {}): string {
  return `${JSON.stringify({ type: "ADDED", object: { metadata: { name, resourceVersion: "1" }, data } })}\n`;
}

const bookmark = (annotations: object): string =>
  `${JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: "9", annotations } } })}\n`;

interface Outcome {
  readonly events: readonly WatchEvent<ConfigMap>[];
  readonly error?: CodedError;
}

async function watchAll(
  serve: (response: ServerResponse) => void,
  options: Partial<WatchOptions> = {},
): Promise<Outcome & { url: string }> {
  await using server = await ScriptedServer.start((_, response) => serve(response));
  using folder = new TestFolder();
  await using client = testClient(folder.kubeconfig({ server: server.url }));
  const events: WatchEvent<ConfigMap>[] = [];
  const url = server.requests[0]?.url ?? "";
  try {
    const { signal } = new AbortController();
    for await (const event of client.resource(configMaps).watch({ signal, ...options })) events.push(event);
  } catch (error) {
    return { events, error: error as CodedError, url };
  }
  return { events, url: server.requests[0]?.url ?? "" };
}

describe("a watch", () => {
  test("yields events and bookmarks until the server ends it", async () => {
    const { events, error } = await watchAll((response) => {
      response.write(added("a"));
      response.end(bookmark({}) + bookmark({ "k8s.io/initial-events-end": "true" }));
    });
    expect(error).toBeUndefined();
    expect(events).toMatchObject([
      { type: "ADDED", object: { metadata: { name: "a" } } },
      { type: "BOOKMARK", resourceVersion: "9", initialEventsEnd: false },
      { type: "BOOKMARK", resourceVersion: "9", initialEventsEnd: true },
    ]);
  });

  test("sends its options", async () => {
    const { url } = await watchAll((response) => response.end(), {
      namespace: "n",
      labelSelector: "a in (b,c)",
      resourceVersion: "7",
      allowWatchBookmarks: true,
      timeoutSeconds: 300,
    });
    expect(url).toBe(
      "/api/v1/namespaces/n/configmaps?labelSelector=a+in+%28b%2Cc%29&watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=300",
    );
  });

  test.each([
    ["text that is not JSON", "hello\n", "EK_KUBE_BAD_WATCH_EVENT"],
    ["JSON that is no event", "[1]\n", "EK_KUBE_BAD_WATCH_EVENT"],
    ["an event without an object", '{"type":"ADDED"}\n', "EK_KUBE_BAD_WATCH_EVENT"],
    [
      "an event of an unknown type",
      '{"type":"GROWN","object":{"metadata":{"resourceVersion":"1"}}}\n',
      "EK_KUBE_BAD_WATCH_EVENT",
    ],
    ["a stream that ends within an event", added("b").slice(0, 20), "EK_KUBE_CONNECTION_LOST"],
    [
      "an expired version inside the stream",
      `${JSON.stringify({ type: "ERROR", object: statusBody(410, "Expired", "too old resource version") })}\n`,
      "EK_KUBE_GONE",
    ],
  ])("that contains %s fails after the events before it", async (_, text, code) => {
    const { events, error } = await watchAll((response) => response.end(added("a") + text));
    expect(events).toHaveLength(1);
    expect(error?.code).toBe(code);
    expect(error?.message).toContain("watch configmaps at http://127.0.0.1:");
  });

  test("that is refused fails with the reason", async () => {
    const { error } = await watchAll((response) => answerJson(response, 410, statusBody(410, "Expired", "too old")));
    expect(error?.code).toBe("EK_KUBE_GONE");
  });

  test("fails when its connection breaks", async () => {
    const { error } = await watchAll((response) => {
      response.write(added("a"), () => response.destroy());
    });
    expect(error?.code).toBe("EK_KUBE_CONNECTION_LOST");
  });

  test("fails when no data arrives", async () => {
    const { events, error } = await watchAll((response) => response.write(added("a")), { silence: 50 });
    expect(events).toHaveLength(1);
    expect(error?.code).toBe("EK_KUBE_WATCH_SILENT");
  });

  test("ends when its signal aborts, and does not start after that", async () => {
    await using server = await ScriptedServer.start((_, response) => response.write(added("a")));
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    const ended = new AbortController();
    const { signal } = ended;
    const seen: string[] = [];
    for await (const { type } of client.resource(configMaps).watch({ signal })) {
      seen.push(type);
      setImmediate(() => ended.abort());
    }
    for await (const { type } of client.resource(configMaps).watch({ signal })) seen.push(type);
    expect(seen).toEqual(["ADDED"]);
    expect(server.requests).toHaveLength(1);
  });

  test("is closed when its reader stops", async () => {
    await using server = await ScriptedServer.start((_, response) => response.write(added("a")));
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    const { signal } = new AbortController();
    for await (const event of client.resource(configMaps).watch({ signal })) {
      expect(event.type).toBe("ADDED");
      break;
    }
    const [socket] = server.open;
    if (socket !== undefined) await once(socket, "close");
    expect(server.open.size).toBe(0);
  });

  test("is read no faster than its reader, and loses no event", async () => {
    const total = 4000;
    const event = added("a", { text: "x".repeat(10_000) });
    let written = 0;
    const stalled = Promise.withResolvers<undefined>();
    await using server = await ScriptedServer.start((_, response) => {
      const writeMore = (): void => {
        while (written < total) {
          written += 1;
          if (!response.write(event)) {
            // A write that never drains shows the backpressure.
            setTimeout(() => stalled.resolve(undefined), 200).unref();
            response.once("drain", writeMore);
            return;
          }
        }
        response.end();
      };
      writeMore();
    });
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    const { signal } = new AbortController();
    let read = 0;
    for await (const { type } of client.resource(configMaps).watch({ signal })) {
      expect(type).toBe("ADDED");
      read += 1;
      if (read === 1) {
        await stalled.promise;
        expect(written).toBeLessThan(total);
      }
    }
    expect(read).toBe(total);
  });
});
