import { createServer, request } from "node:http";
import { listenUntilEnd } from "../../support/listen.ts";

/**
 * Starts a proxy that adds a bearer token, for clients that cannot send one. It changes nothing else, including `Host`
 * and `Origin`.
 */
export async function withToken(target: string, token: string): Promise<string> {
  const { origin, pathname } = new URL(target);
  const proxy = createServer((near, response) => {
    const { method, url = "/" } = near;
    const headers = { ...near.headers, authorization: `Bearer ${token}` };
    const far = request(new URL(url, origin), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      // Send the headers now, because a stream must open before its first data.
      response.flushHeaders();
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    far.on("error", () => response.destroy());
    response.on("close", () => far.destroy());
    near.pipe(far);
  });
  const { url } = await listenUntilEnd(proxy);
  return `${url}${pathname}`;
}
