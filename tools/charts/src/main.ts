import { pinnedHelm } from "@evenkeel/e2e/helm";
import { driftedFiles, writeFiles } from "./generated.ts";
import { buildDependencies } from "./helm.ts";
import { charts, root } from "./places.ts";

const command = "node tools/charts/src/main.ts";
const [verb, option, ...rest] = process.argv.slice(2);

if (verb === "generate" && option === undefined) {
  const written = await writeFiles(root);
  console.log(written.length === 0 ? "the charts are up to date" : written.map((path) => `wrote ${path}`).join("\n"));
} else if (verb === "generate" && option === "--check" && rest.length === 0) {
  const drifted = await driftedFiles(root);
  for (const path of drifted) console.error(`${path} differs from its sources; update it with: make generate`);
  process.exitCode = drifted.length === 0 ? 0 : 1;
} else if (verb === "build" && rest.length === 0) {
  // The Helm that is named, or the pinned one.
  await buildDependencies(option ?? (await pinnedHelm((line) => console.error(line))), charts);
  console.log("every chart has its dependencies");
} else {
  console.error(`usage: ${command} generate [--check] | build [helm]`);
  process.exitCode = 2;
}
