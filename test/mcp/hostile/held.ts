import { once } from "node:events";
import { json } from "../../client/api.ts";
import { serve } from "../stub.ts";

/**
 * Starts a platform that holds each request until its sender disconnects. Only requests to `/users/` get a response.
 */
export async function heldPlatform(): Promise<{
  readonly url: string;
  readonly asked: () => Promise<Held>;
}> {
  const waiting: Held[] = [];
  let news = Promise.withResolvers<void>();
  const { url } = await serve((response, request) => {
    if (request.url?.includes("/users/")) {
      json(200, { username: "ada" })(response, request);
      return;
    }
    const left = once(response, "close").then(() => undefined);
    waiting.push({ request: `${request.method} ${request.url}`, left, response });
    news.resolve();
    news = Promise.withResolvers();
  });
  return {
    url,
    async asked() {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) return next;
        await news.promise;
      }
    },
  };
}

export interface Held {
  readonly request: string;
  readonly left: Promise<void>;
  readonly response: Parameters<Parameters<typeof serve>[0]>[0];
}
