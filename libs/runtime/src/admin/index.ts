export { HttpServer, type HttpServerOptions } from "./http-server.ts";
export type { Status } from "./status-page.ts";
