import type { HttpServer } from "@evenkeel/runtime";
import { NotBuilt } from "../errors.ts";
import type { Asset, AssetFiles } from "./asset-files.ts";
import { chooseEncoding } from "./encoding.ts";
import { notBuiltPage } from "./not-built-page.ts";

type Routes = HttpServer["routes"];
type Handler = Parameters<Routes["route"]>[0]["handler"];
type Request = Parameters<Handler>[0];
type Reply = Parameters<Handler>[1];

/** Scripts, styles and data come only from this port. Inline scripts are blocked, and no page may frame this one. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/**
 * Serves the built files under `/dashboard`. Every address in them is relative, so that they also work behind a proxy
 * with a path prefix, such as the API server's.
 */
export function dashboardRoutes(routes: Routes, files: AssetFiles, app: string): void {
  routes.get("/dashboard", (_request, reply) => reply.redirect("dashboard/", 308));
  routes.get("/dashboard/", { onSend: headers("no-cache") }, async (request, reply) => {
    const index = await files.index();
    if (index) return send(request, reply, index);
    const { code, message } = new NotBuilt({ app });
    return reply.code(503).type("text/html; charset=utf-8").send(notBuiltPage(code, message));
  });
  // The name of each changes with its content.
  const onSend = headers("public, max-age=31536000, immutable");
  routes.get<{ Params: { file: string } }>("/dashboard/assets/:file", { onSend }, async (request, reply) => {
    const asset = await files.asset(request.params.file);
    if (asset) return send(request, reply, asset);
    reply.callNotFound();
    return reply;
  });
}

/** The admin port sets its own headers on every response. A route's hook runs later and overrides them. */
function headers(cacheControl: string) {
  return (_request: unknown, reply: Reply, _payload: unknown, done: () => void): void => {
    reply.header("content-security-policy", CONTENT_SECURITY_POLICY);
    if (reply.statusCode < 400) reply.header("cache-control", cacheControl);
    done();
  };
}

function send({ headers }: Pick<Request, "headers">, reply: Reply, asset: Asset): Reply {
  reply.headers({ etag: asset.etag, vary: "accept-encoding" });
  if (headers["if-none-match"]?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === asset.etag)) {
    return reply.code(304).send();
  }
  const encoding = chooseEncoding(headers["accept-encoding"], asset);
  if (encoding !== "identity") reply.header("content-encoding", encoding);
  return reply.type(asset.type).send(encoding === "identity" ? asset.plain : asset[encoding]);
}
