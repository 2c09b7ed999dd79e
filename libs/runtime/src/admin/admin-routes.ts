import type { MetricRegistry } from "@evenkeel/metrics";
import type { FastifyInstance } from "fastify";
import type { DecisionSource } from "../decision/index.ts";
import { NoRecording } from "../errors.ts";
import { statusPage, type Status, statusStyle } from "./status-page.ts";

interface AdminOptions {
  readonly metrics: MetricRegistry;
  readonly status: () => Promise<Status>;
}

interface OwnDecisions {
  readonly decisions: DecisionSource;
  /** The flight recorder's file for a decision. */
  readonly recording: (id: string) => string | undefined;
}

/** What the admin port serves for every service. */
export function adminRoutes(routes: FastifyInstance, { metrics, status }: AdminOptions): void {
  routes.addHook("onSend", (_request, reply, _payload, done) => {
    reply.headers({
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
    done();
  });

  routes.get("/metrics", async (_request, reply) => {
    reply.type(metrics.contentType);
    return metrics.text();
  });

  routes.get("/", async (_request, reply) => {
    reply.type("text/html; charset=utf-8");
    return statusPage(await status());
  });
  routes.get("/status.css", (_request, reply) => reply.type("text/css; charset=utf-8").send(statusStyle));
  routes.get("/api/v1/Runtime/Status", status);
}

/**
 * Decisions of this process alone, for a service without the gRPC methods of the same names, whose gateway serves those
 * of all replicas.
 */
export function ownDecisionRoutes(routes: FastifyInstance, { decisions, recording }: OwnDecisions): void {
  routes.get<{ Querystring: { object?: string; action?: string; reason?: string; limit?: number } }>(
    "/api/v1/Decisions/List",
    { schema: { querystring: listQuery } },
    async ({ query: { limit = 100, ...filter } }) => ({ decisions: await decisions.list(filter, limit) }),
  );
  routes.get<{ Querystring: { id: string } }>(
    "/api/v1/Decisions/Snapshot",
    { schema: { querystring: snapshotQuery } },
    (request, reply) => {
      const { id } = request.query;
      const file = recording(id);
      if (file === undefined) {
        const { code, message } = new NoRecording({ id });
        return reply.code(404).send({ code, message });
      }
      return reply
        .type("application/json; charset=utf-8")
        .header("content-disposition", `attachment; filename="${id}.json"`)
        .send(file);
    },
  );
}

const text = { type: "string", maxLength: 512 };
const listQuery = {
  type: "object",
  additionalProperties: false,
  properties: { object: text, action: text, reason: text, limit: { type: "integer", minimum: 1, maximum: 1000 } },
};
const snapshotQuery = {
  type: "object",
  required: ["id"],
  additionalProperties: false,
  properties: { id: { type: "string", pattern: "^[0-9a-f]{1,64}$" } },
};
