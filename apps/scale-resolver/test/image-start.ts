import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../../..");

/** The arguments between `args:` and the program for services with traffic, before those of the service's own chart. */
const TRAFFIC_FLAGS =
  / args:\n(?: +#.*\n)* +\{\{- if or \.traffic \.favourSpeed \}\}\n((?: +[#-] .*\n)+) +\{\{- end \}\}\n +\{\{- with \(\.traffic\)\.node \}\}\n.*\n +\{\{- end \}\}\n +- \/app\/main\.mjs\n/;

/** The arguments for Node of the service's own chart. */
const OWN_FLAGS = /^node:\n((?: +[#-] .*\n)+)/m;

/** How Node is started in a cluster. */
export interface ImageStart {
  /** Flags before the program. The last of two contradictory flags applies. */
  readonly nodeFlags: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** The command line of the image's entry point and the chart. Fails if these files do not contain it. */
export function imageStart(): ImageStart {
  const dockerfile = readFileSync(join(root, "infra/docker/Dockerfile"), "utf8");
  const template = readFileSync(join(root, "charts/lib/templates/_deployment.tpl"), "utf8");
  const [program, ...flags] = JSON.parse(partOf(dockerfile, /^ENTRYPOINT (.*)$/m)) as string[];
  const own = readFileSync(join(root, "charts/scale-resolver/templates/_traffic.tpl"), "utf8");
  const nodeFlags = [...flags, ...listed(partOf(template, TRAFFIC_FLAGS)), ...listed(partOf(own, OWN_FLAGS))];
  const odd = nodeFlags.find((flag) => !/^--[a-z0-9-]+(=[\w.-]+)?$/.test(flag));
  if (program !== "/nodejs/bin/node" || odd !== undefined) throw new Error(`Node is not started by ${odd ?? program}`);
  const env = { ...process.env };
  for (const variable of partOf(dockerfile, /^ENV (NODE_ENV=.*)$/m).split(" ")) {
    const [name = "", value] = variable.split("=", 2);
    env[name] = value;
  }
  return { nodeFlags, env };
}

/** The entries of a list in YAML. */
function listed(text: string): readonly string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line.startsWith("- ")).map((line) => line.slice(2));
}

function partOf(text: string, pattern: RegExp): string {
  const part = pattern.exec(text)?.[1];
  if (part === undefined) throw new Error(`nothing fits ${String(pattern)}`);
  return part;
}
