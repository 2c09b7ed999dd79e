// A program that owns a cluster until it is killed. It says on one line of JSON which processes it has started.
import { startCluster } from "@evenkeel/control-plane";

const cluster = await startCluster({ name: "owned", nodes: 0 });
console.log(JSON.stringify(cluster.components().map(({ pid }) => pid)));
setInterval(() => undefined, 60_000);
