import { relative } from "node:path";
import { parseArgs } from "node:util";
import { root } from "@evenkeel/charts";
import { deploy } from "./deploy.ts";
import { writeServiceImage } from "./images/images.ts";

const USAGE = `usage: node tools/real-node/src/main.ts images <service>... | deploy [service] [--image name:tag]
  with --registry and --tag for another name of the images`;

const option = { type: "string" } as const;
const { values, positionals } = parseArgs({
  options: { registry: option, tag: option, image: option },
  allowPositionals: true,
});
const [verb, ...services] = positionals;
const { registry, tag, image } = values;
// make passes on a variable that is not set as an empty text.
const naming = { ...(registry ? { registry } : {}), ...(tag ? { tag } : {}) };

try {
  if (verb === "images" && services.length > 0) {
    for (const service of services) console.log(`wrote ${relative(root, writeServiceImage(service, naming))}`);
  } else if (verb === "deploy" && services.length <= 1) {
    const [service] = services;
    const named = { ...(service ? { service } : {}), ...(image ? { image } : {}) };
    await deploy({ ...naming, ...named, say: (line) => console.log(line) });
  } else {
    console.error(USAGE);
    process.exitCode = 2;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
