import { type Api, type Call, json, type Responder, serve as serveApi } from "../client/api.ts";
import { DOCTOR_AGENT } from "../faces/core.ts";

/**
 * A platform that answers so to what tools ask. It knows the token: that is asked once before, and is none of its
 * `calls`.
 */
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

/** Answers what is asked to find out about a token. */
const knowing: Responder = json(200, { items: [], nextCursor: null });
