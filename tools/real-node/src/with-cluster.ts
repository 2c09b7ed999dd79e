import { spawn } from "node:child_process";
import { foldersFrom, startCluster, whyNoRealNode } from "@evenkeel/control-plane";
import { writeNodeImage } from "./images/images.ts";
import { CLUSTER_VARIABLE } from "./shared-cluster.ts";

// Runs a command, such as all test files of a suite, with one cluster with a real node that they share:
//   node tools/real-node/src/with-cluster.ts <command> [argument…]
// Where the machine cannot run a node the command runs without one, and its tests say why they are skipped.

const [command = "", ...args] = process.argv.slice(2);

async function run(env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, ...env } });
  return new Promise((resolve, reject) => child.on("error", reject).on("close", (code) => resolve(code ?? 1)));
}

const say = (line: string): void => console.error(`  ${line}`);
const why = whyNoRealNode(foldersFrom(process.env));
if (why === undefined) {
  await using cluster = await startCluster({ name: "real-node", node: "real", progress: say });
  await cluster.loadImage(writeNodeImage());
  process.exitCode = await run({ [CLUSTER_VARIABLE]: cluster.id });
  say(`logs of the cluster: ${cluster.logs}`);
} else {
  say(why);
  process.exitCode = await run({});
}
