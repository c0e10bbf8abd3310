import type { SpanStart } from "../core/tracing.ts";
import type { Call } from "./call.ts";
import { templateOf } from "./operation.ts";

/** The span of one try of a request. Its address is left out: it has names in it, and what is searched for. */
export function requestSpan(
  { method, path }: Pick<Call, "method" | "path">,
  baseUrl: string,
  number: number,
): SpanStart {
  const template = templateOf(path);
  const { hostname, port, protocol } = new URL(baseUrl);
  return {
    name: `${method} ${template}`,
    kind: "client",
    attributes: {
      "http.request.method": method,
      "url.template": template,
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "http:" ? 80 : 443),
      "http.request.resend_count": number === 1 ? undefined : number - 1,
    },
  };
}
