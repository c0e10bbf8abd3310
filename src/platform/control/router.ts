import { type Request, type Response, Router } from "express";
import { notFound } from "../error.ts";
import { goneSignal } from "../http/answer.ts";
import { readJson, validate } from "../http/body.ts";
import { sameOriginOnly } from "../http/guard.ts";
import { integer, limit, parameter, text } from "../http/query.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { Control } from "./control.ts";
import { type Endpoints, mount } from "./endpoint.ts";
import {
  actBody,
  blockBody,
  deliveriesBody,
  faultsBody,
  groupBody,
  limitsBody,
  storageBody,
  tokenBody,
  webhookBody,
} from "./schemas.ts";
import { stateEndpoints } from "./state-endpoints.ts";

/** The longest wait of a long poll, in milliseconds. */
const MAX_WAIT_MS = 30_000;

/** The control API: everything below /control/v1. */
export function controlRouter(control: Control, timeline: Timeline): Router {
  const router = Router();
  router.use(sameOriginOnly);
  mount(router, endpoints(control, timeline));
  mount(router, stateEndpoints(control));
  router.use(() => {
    throw notFound("endpoint");
  });
  return router;
}

function endpoints(control: Control, timeline: Timeline): Endpoints {
  return {
    "/state": { get: () => control.state() },
    "/act": {
      post: async (request) => control.act(validate(actBody, await readJson(request))),
    },
    "/conversations/:id/messages": {
      get: (request) => ({ items: control.messages(parameter(request, "id")) }),
    },
    "/posts/:id/comments": {
      get: (request) => ({ items: control.comments(parameter(request, "id")) }),
    },
    "/events": {
      get: (request) => ({ events: control.events(text(request.query, "since")) }),
    },
    "/tokens": {
      post: async (request) => {
        const { scopes, bot } = validate(tokenBody, await readJson(request));
        return control.createToken(scopes, bot);
      },
    },
    "/groups": {
      post: async (request) => control.createGroup(validate(groupBody, await readJson(request))),
    },
    "/blocks": {
      get: () => ({ items: control.blocks }),
      put: async (request) => ({
        items: control.setBlock(validate(blockBody, await readJson(request))),
      }),
    },
    "/limits": {
      get: () => control.limits,
      put: async (request) => control.setLimits(validate(limitsBody, await readJson(request))),
    },
    "/storage": {
      get: () => control.storage,
      put: async (request) => control.setStorage(validate(storageBody, await readJson(request))),
    },
    "/webhook": {
      get: () => control.webhook,
      put: async (request) => control.saveWebhook(validate(webhookBody, await readJson(request))),
    },
    "/webhook/secret": { post: () => ({ secret: control.regenerateWebhookSecret() }) },
    "/faults": {
      get: () => control.faults,
      put: async (request) => control.setFaults(validate(faultsBody, await readJson(request))),
    },
    "/deliveries": {
      postStatus: 200,
      get: ({ query }) => {
        const window = { limit: limit(query), cursor: text(query, "cursor") };
        return control.deliveries(window, text(query, "bot"));
      },
      post: async (request) => ({
        deliveries: await control.deliver(validate(deliveriesBody, await readJson(request))),
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
