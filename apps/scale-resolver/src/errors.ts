export * from "./act/errors.ts";
export * from "./act/path-errors.ts";
export * from "./act/routes/errors.ts";
export * from "./serve/errors.ts";
export * from "./gateway/gate/errors.ts";
