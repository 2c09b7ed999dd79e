export { adminRoutes, type AdminOptions, type OwnDecisions, ownDecisionRoutes } from "./admin-routes.ts";
export { healthRoutes } from "./health-routes.ts";
export { HttpServer, type HttpServerOptions } from "./http-server.ts";
export type { Status } from "./status-page.ts";
