import { buildKeda } from "./build.ts";

// Builds what is missing, and prints the paths.
console.log(JSON.stringify(await buildKeda((line) => console.error(line)), undefined, 2));
