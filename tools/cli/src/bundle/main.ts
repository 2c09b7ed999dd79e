// Bundles the program into dist/main.mjs, one file that runs on Node 20 and later.
import { join } from "node:path";
import { build, type Plugin } from "esbuild";

const project = join(import.meta.dirname, "../..");

/** The parts of undici that connections need, put together as its index.js does. */
const UNDICI = `
  Object.assign(require("undici/lib/dispatcher/dispatcher.js").prototype, require("undici/lib/api/index.js"));
  exports.Agent = require("undici/lib/dispatcher/agent.js");
  exports.ProxyAgent = require("undici/lib/dispatcher/proxy-agent.js");
`;

/** The whole of undici does not load on Node 20: its interceptors use what node:zlib has since Node 22. */
const undiciParts: Plugin = {
  name: "undici-parts",
  setup: (bundle) => {
    bundle.onResolve({ filter: /^undici$/ }, () => ({ path: "undici", namespace: "undici-parts" }));
    bundle.onLoad({ filter: /.*/, namespace: "undici-parts" }, () => ({ contents: UNDICI, resolveDir: project }));
  },
};

const require =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

await build({
  entryPoints: [join(project, "src/main.ts")],
  outfile: join(project, "dist/main.mjs"),
  inject: [join(project, "src/bundle/node20.ts")],
  plugins: [undiciParts],
  banner: { js: require },
  ...{ bundle: true, platform: "node", format: "esm", target: "node20", logLevel: "warning" },
  ...{ minifySyntax: true, minifyWhitespace: true, sourcemap: true },
});
