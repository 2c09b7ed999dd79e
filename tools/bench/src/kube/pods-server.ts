// A process that answers as a kube-apiserver with many pods does: paged lists, streamed lists, watches. It counts
// connections.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { samplePod } from "./pod.ts";

const count = Number(process.argv[2]);
const version = String(1_000_000 + count);
const pods = Array.from({ length: count }, (_, number) => JSON.stringify(samplePod(number)));
const event = (type: string, object: string) => `{"type":"${type}","object":${object}}\n`;
const typed = (pod: string) => `{"apiVersion":"v1","kind":"Pod",${pod.slice(1)}`;
const bookmark = event(
  "BOOKMARK",
  `{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"${version}","annotations":{"k8s.io/initial-events-end":"true"}}}`,
);
let connections = 0;

async function write(answer: ServerResponse, text: string): Promise<void> {
  if (!answer.write(text)) await new Promise((resolve) => answer.once("drain", resolve));
}

async function list(answer: ServerResponse, query: URLSearchParams): Promise<void> {
  const from = Number(query.get("continue") ?? 0);
  const to = Math.min(count, from + Number(query.get("limit") ?? count));
  const rest = to < count ? `,"continue":"${to}","remainingItemCount":${count - to}` : "";
  await write(
    answer,
    `{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"${version}"${rest}},"items":[`,
  );
  for (let at = from; at < to; at += 500) {
    await write(answer, (at === from ? "" : ",") + pods.slice(at, Math.min(to, at + 500)).join(","));
  }
  answer.end("]}");
}

async function watch(answer: ServerResponse, query: URLSearchParams): Promise<void> {
  answer.flushHeaders();
  if (query.get("sendInitialEvents") !== "true") return;
  for (let at = 0; at < count; at += 100) {
    await write(
      answer,
      pods
        .slice(at, at + 100)
        .map((pod) => event("ADDED", typed(pod)))
        .join(""),
    );
  }
  await write(answer, bookmark);
}

const server = createServer((request, answer) => {
  const url = new URL(request.url ?? "/", "http://server");
  answer.setHeader("content-type", "application/json");
  if (url.pathname === "/connections") answer.end(String(connections));
  else if (url.pathname === "/version") answer.end('{"major":"1","minor":"36","gitVersion":"v1.36.3"}');
  else if (url.pathname === "/api/v1/namespaces/one/pods/one") setTimeout(() => answer.end(typed(pods[0] ?? "")), 5);
  else if (url.pathname !== "/api/v1/pods") answer.writeHead(404).end("{}");
  else if (url.searchParams.get("watch") === "true") void watch(answer, url.searchParams);
  else void list(answer, url.searchParams);
});
server.on("connection", () => (connections += 1));
server.listen(0, "127.0.0.1", () => console.log(`ready ${(server.address() as AddressInfo).port}`));
