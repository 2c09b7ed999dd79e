export * from "./gateway/errors.ts";
