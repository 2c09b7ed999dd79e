import { fileURLToPath } from "node:url";
import { driftedFiles, writeFiles } from "./files.ts";

const charts = fileURLToPath(new URL("../../../charts/", import.meta.url));
const command = "node tools/crds/src/main.ts";
const [option, ...rest] = process.argv.slice(2);

if (option === undefined) {
  const written = writeFiles(charts);
  console.log(written.length === 0 ? "the CRDs are up to date" : written.map((p) => `wrote charts/${p}`).join("\n"));
} else if (option === "--check" && rest.length === 0) {
  const drifted = driftedFiles(charts);
  for (const path of drifted) console.error(`charts/${path} differs from libs/api; update it with: ${command}`);
  process.exitCode = drifted.length === 0 ? 0 : 1;
} else {
  console.error(`usage: ${command} [--check]`);
  process.exitCode = 2;
}
