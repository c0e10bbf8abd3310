import { type Api, type Call, json, type Responder, serve as serveApi } from "../client/api.ts";
import { DOCTOR_AGENT } from "../faces/core.ts";

/** Starts a platform that sends this response to every tool. `calls` leaves out the request that checks the token. */
export async function serve(respond: Responder): Promise<Api> {
  const calls: Call[] = [];
  const api = await serveApi((response, request) => {
    if (request.headers["user-agent"] === DOCTOR_AGENT) {
      knowing(response, request);
      return;
    }
    const call = api.calls.at(-1);
    if (call !== undefined) calls.push(call);
    respond(response, request);
  });
  return { ...api, calls };
}

const knowing: Responder = json(200, { items: [], nextCursor: null });
