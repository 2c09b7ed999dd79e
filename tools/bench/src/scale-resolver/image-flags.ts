/** As the chart of scale-resolver starts Node. */
export const IMAGE_FLAGS: readonly string[] = ["--max-semi-space-size=16", "--v8-pool-size=1"];

export const IMAGE_ENV: NodeJS.ProcessEnv = { ...process.env, NODE_ENV: "production", MALLOC_ARENA_MAX: "1" };
