import { buildTelemetry } from "./build.ts";

const [verb, ...rest] = process.argv.slice(2);
if (verb !== "build" || rest.length > 0) {
  console.error("Usage: node_modules/.bin/node tools/telemetry/src/main.ts build");
  process.exitCode = 2;
} else {
  console.log(await buildTelemetry({ progress: (line) => console.error(line) }));
}
