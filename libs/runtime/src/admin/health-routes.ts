import type { FastifyInstance } from "fastify";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";

/**
 * `/livez` and `/healthz` say that the process answers: failing them gets it killed, so they depend on nothing else.
 * `/readyz` says whether it should get traffic, with each reason why not on a line of its own.
 */
export function healthRoutes(routes: FastifyInstance, lifecycle: Lifecycle): void {
  const alive = () => "ok\n";
  routes.get("/livez", alive);
  routes.get("/healthz", alive);
  routes.get("/readyz", (_request, reply) => {
    const reasons = lifecycle.unready();
    reply.code(reasons.length === 0 ? 200 : 503).type("text/plain; charset=utf-8");
    return reasons.length === 0 ? "ok\n" : reasons.map(({ name, reason }) => `${name}: ${reason}\n`).join("");
  });
}
