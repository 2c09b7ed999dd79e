// A process with many watches of all pods at the server at argv[2]. It says how many events have come in all, when
// asked.
import { pods } from "@evenkeel/kube";
import { benchClient } from "../bench-client.ts";

const count = Number(process.argv[3]);
const resource = benchClient(process.argv[2] ?? "", "bench").resource(pods);
const { resourceVersion } = await resource.list({ limit: 1 });
const { signal } = new AbortController();
let seen = 0;

async function watch(): Promise<void> {
  for await (const event of resource.watch({ resourceVersion, signal })) if (event.type === "MODIFIED") seen += 1;
}

process.on("message", () => process.send?.({ seen }));
for (let watcher = 0; watcher < count; watcher++) void watch();
process.send?.({ seen });
