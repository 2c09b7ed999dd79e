export * from "./gateway/errors.ts";
export * from "./serve/errors.ts";
