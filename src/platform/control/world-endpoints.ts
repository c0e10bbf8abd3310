import type { Request } from "express";
import { integer, parameter, text } from "../http/query.ts";
import type { Control } from "./control.ts";
import { bodyOf, botIn, type Endpoints } from "./endpoint.ts";
import { accountBody, actBody, blockBody, groupBody } from "./schemas.ts";

/** The most events of one answer: a long log is read on from the last one. */
const MAX_EVENTS = 1_000;

/** Those who live on the platform, what they do, and what came of it. */
export function worldEndpoints(control: Control): Endpoints {
  return {
    "/state": { get: (request) => control.state(botIn(request)) },
    "/act": { post: async (request) => control.act(await bodyOf(request, actBody)) },
    "/people": {
      get: () => ({ items: control.people }),
      post: async (request) => control.createPerson(await bodyOf(request, accountBody)),
    },
    "/messages/:id": {
      delete: (request) => control.deleteMessage(parameter(request, "id")),
    },
    "/events": {
      get: (request) => ({
        events: control.events(text(request.query, "since"), botIn(request), eventsIn(request)),
      }),
    },
    "/groups": {
      post: async (request) => control.createGroup(await bodyOf(request, groupBody)),
    },
    "/blocks": {
      get: () => ({ items: control.blocks }),
      put: async (request) => ({ items: control.setBlock(await bodyOf(request, blockBody)) }),
    },
  };
}

function eventsIn(request: Request): number {
  return integer(request.query, "limit", { min: 1, max: MAX_EVENTS, fallback: MAX_EVENTS });
}
