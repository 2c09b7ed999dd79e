export { startApiServer } from "./api-server.ts";
