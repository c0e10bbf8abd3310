import { type Request, type Response, Router } from "express";
import { notFound } from "../error.ts";
import { goneSignal } from "../http/answer.ts";
import { isRead, sameOriginOnly } from "../http/guard.ts";
import { integer, limit, parameter, text } from "../http/query.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { appEndpoints } from "./app-endpoints.ts";
import { editedLimit } from "./body-limits.ts";
import { contentsEndpoints } from "./contents-endpoints.ts";
import type { Control } from "./control.ts";
import { bodyOf, botIn, type Endpoints, mount } from "./endpoint.ts";
import { imageEndpoints } from "./image-endpoints.ts";
import { portalEndpoints } from "./portal-endpoints.ts";
import { deliveriesBody, faultsBody, limitsBody, storageBody } from "./schemas.ts";
import { stateEndpoints } from "./state-endpoints.ts";
import { streamEndpoints } from "./stream.ts";
import { worldEndpoints } from "./world-endpoints.ts";

/** The longest wait of a long poll, in milliseconds. */
const MAX_WAIT_MS = 30_000;

/** The control API: everything below /control/v1. */
export function controlRouter(control: Control, timeline: Timeline): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(sameOriginOnly);
  router.use((request, response, next) => {
    // By the answer, so that whoever looks again sees what was done.
    response.once("finish", () => {
      if (!isRead(request) && response.statusCode < 400) timeline.change();
    });
    next();
  });
  mount(router, worldEndpoints(control));
  mount(router, contentsEndpoints(control));
  mount(router, imageEndpoints(control));
  mount(router, streamEndpoints(timeline));
  mount(router, appEndpoints(control));
  // Before /deliveries/:id.
  mount(router, portalEndpoints(control));
  mount(router, endpoints(control, timeline));
  mount(router, stateEndpoints(control));
  router.use(() => {
    throw notFound("endpoint");
  });
  return router;
}

function endpoints(control: Control, timeline: Timeline): Endpoints {
  return {
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
      postStatus: 200,
      get: (request) => {
        const { query } = request;
        const window = { limit: limit(query), cursor: text(query, "cursor") };
        return control.deliveries(window, botIn(request));
      },
      post: async (request) => ({
        deliveries: await control.deliver(
          await bodyOf(request, deliveriesBody, editedLimit),
          botIn(request),
        ),
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
