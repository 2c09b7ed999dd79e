import { resolve } from "node:path";
import { buildDashboard } from "./build.ts";

const [project] = process.argv.slice(2);
if (project === undefined) {
  process.stderr.write("usage: node libs/dashboard/src/build/main.ts <folder of the app>\n");
  process.exit(2);
}
const { gzip } = await buildDashboard(resolve(project));
for (const [name, bytes] of Object.entries(gzip)) {
  process.stdout.write(`${name.padEnd(32)} ${(bytes / 1024).toFixed(1).padStart(7)} KiB gzip\n`);
}
