// One configuration for every project: nx runs jest inside the project's folder with --rootDir set to it. SUITE picks
// the folder: `src` holds unit tests, `test` those that start real parts. nx repeats neither while nothing has changed
// that they depend on; `--skip-nx-cache` does.
const suite = process.env.SUITE ?? "src";

export default {
  testEnvironment: "node",
  roots: [`<rootDir>/${suite}`],
  testMatch: ["**/*.test.ts"],
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      {
        jsc: { parser: { syntax: "typescript" }, target: "es2024", experimental: { keepImportAttributes: true } },
        module: { type: "es6" },
        sourceMaps: "inline",
      },
    ],
  },
  injectGlobals: false,
  passWithNoTests: false,
  testTimeout: 30_000,
  runtime: new URL("jest-runtime.cjs", import.meta.url).pathname,
  // Tests that start real parts wait for them most of the time.
  ...(suite === "test" ? { maxWorkers: 2 } : {}),
  ...(suite === "src" ? {} : { maxConcurrency: 10 }),
};
