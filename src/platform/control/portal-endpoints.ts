import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Response } from "express";
import { readJson } from "../http/body.ts";
import { editedLimit, snapshotLimit } from "./body-limits.ts";
import type { Control } from "./control.ts";
import { bodyOf, botIn, type Endpoints } from "./endpoint.ts";
import { curlBody } from "./schemas.ts";

/** What the page needs besides: the bot's own view, deliveries for a shell, and the state as JSON. */
export function portalEndpoints(control: Control): Endpoints {
  return {
    "/bot": { get: (request) => control.botView(botIn(request)) },
    "/deliveries/curl": {
      postStatus: 200,
      post: async (request) =>
        control.deliveryCommand(await bodyOf(request, curlBody, editedLimit), botIn(request)),
    },
    "/export": { get: (_request, response) => sendState(response, control) },
    "/import": {
      postStatus: 200,
      post: async (request) => {
        control.snapshots.importState(await readJson(request, snapshotLimit));
        return control.state();
      },
    },
  };
}

async function sendState(response: Response, { snapshots }: Control): Promise<void> {
  response.set({
    "Content-Type": "application/json",
    "Content-Disposition": 'attachment; filename="state.json"',
  });
  try {
    await pipeline(Readable.from(snapshots.exportState()), response);
  } catch (error) {
    // Whoever asked has gone away.
    if (!response.destroyed) throw error;
  }
}
