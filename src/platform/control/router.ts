import { type Request, type RequestHandler, type Response, Router } from "express";
import { notFound, PlatformError } from "../error.ts";
import { goneSignal, send } from "../http/answer.ts";
import { sameOriginOnly } from "../http/guard.ts";
import { integer, limit, parameter, text } from "../http/query.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { appEndpoints } from "./app-endpoints.ts";
import type { Control } from "./control.ts";
import { bodyOf, botIn, type Endpoints, type Handler } from "./endpoint.ts";
import { deliveriesBody, faultsBody, limitsBody, storageBody } from "./schemas.ts";
import { worldEndpoints } from "./world-endpoints.ts";

/** The longest wait of a long poll, in milliseconds. */
const MAX_WAIT_MS = 30_000;

/** The control API: everything below /control/v1. */
export function controlRouter(control: Control, timeline: Timeline): Router {
  const router = Router();
  router.use(sameOriginOnly);
  for (const [path, endpoint] of Object.entries(endpoints(control, timeline))) {
    const { get, put, post, delete: remove } = endpoint;
    if (get !== undefined) router.get(path, answering(200, get));
    if (put !== undefined) router.put(path, answering(200, put));
    if (post !== undefined) router.post(path, answering(path === "/deliveries" ? 200 : 201, post));
    if (remove !== undefined) router.delete(path, answering(200, remove));
    router.all(path, wrongMethod(Object.keys(endpoint)));
  }
  router.use(() => {
    throw notFound("endpoint");
  });
  return router;
}

function endpoints(control: Control, timeline: Timeline): Endpoints {
  return {
    ...worldEndpoints(control),
    ...appEndpoints(control),
    "/limits": {
      get: (request) => control.limitsOf(botIn(request)),
      put: async (request) => control.setLimits(await bodyOf(request, limitsBody)),
    },
    "/storage": {
      get: () => control.storage,
      put: async (request) => control.setStorage(await bodyOf(request, storageBody)),
    },
    "/faults": {
      get: () => control.faults,
      put: async (request) => control.setFaults(await bodyOf(request, faultsBody)),
    },
    "/deliveries": {
      get: (request) => {
        const { query } = request;
        const window = { limit: limit(query), cursor: text(query, "cursor") };
        return control.deliveries(window, botIn(request));
      },
      post: async (request) => ({
        deliveries: await control.deliver(await bodyOf(request, deliveriesBody), botIn(request)),
      }),
    },
    "/deliveries/:id": { get: (request) => control.delivery(parameter(request, "id")) },
    "/timeline": { get: (request, response) => readTimeline(timeline, request, response) },
  };
}

async function readTimeline(
  timeline: Timeline,
  request: Request,
  response: Response,
): Promise<unknown> {
  const max = Number.MAX_SAFE_INTEGER;
  const after = integer(request.query, "after", { min: 0, max, fallback: 0 });
  const waitMs = integer(request.query, "waitMs", { min: 0, max: MAX_WAIT_MS, fallback: 0 });
  const entries = await timeline.waitAfter(after, waitMs, goneSignal(response));
  // Not the timeline's own end: what came while this answer was being made is in the next one.
  return { entries, last: entries.at(-1)?.seq ?? Math.min(after, timeline.last) };
}

function answering(status: number, handler: Handler): RequestHandler {
  return async (request, response) => {
    send(response, { status, body: await handler(request, response) });
  };
}

function wrongMethod(methods: readonly string[]): RequestHandler {
  const allow = methods.join(", ").toUpperCase();
  return (request) => {
    const message = `${request.path} takes ${allow} only.`;
    throw new PlatformError(405, "METHOD_NOT_ALLOWED", message, { Allow: allow });
  };
}
