// A program that owns a cluster until it is killed. It prints the started processes as one line of JSON.
import { startCluster } from "@evenkeel/control-plane";

const cluster = await startCluster({ name: "owned", nodes: 0 });
console.log(JSON.stringify(cluster.components().map(({ pid }) => pid)));
setInterval(() => undefined, 60_000);
