import { fileURLToPath } from "node:url";
import { driftedFiles, writeFiles } from "./files.ts";

const folder = fileURLToPath(new URL("../../../charts/crds/", import.meta.url));
const command = "node tools/crds/src/main.ts";
const [option, ...rest] = process.argv.slice(2);

if (option === undefined) {
  const written = writeFiles(folder);
  console.log(
    written.length === 0 ? "charts/crds is up to date" : written.map((name) => `wrote charts/crds/${name}`).join("\n"),
  );
} else if (option === "--check" && rest.length === 0) {
  const drifted = driftedFiles(folder);
  for (const name of drifted) console.error(`charts/crds/${name} differs from libs/api; mend it with: ${command}`);
  process.exitCode = drifted.length === 0 ? 0 : 1;
} else {
  console.error(`usage: ${command} [--check]`);
  process.exitCode = 2;
}
