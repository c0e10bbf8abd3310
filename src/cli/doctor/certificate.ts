import { once } from "node:events";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { type Finding, findingsOf } from "./finding.ts";

const { note } = findingsOf("webhook");

/** How long the server may take for its certificate, in milliseconds. */
const PATIENCE_MS = 5_000;

const DAY_MS = 86_400_000;

/** What is renewed by itself is so with a third of its time left; with less than this part of it nobody has. */
const LAST_PART = 5;

/** Is the certificate of this address about to end? Undefined when it is not, or cannot be seen. */
export async function examineCertificate(url: URL): Promise<Finding | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const socket = connect({
    host,
    port: Number(url.port || 443),
    // An address is no name of a server.
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(PATIENCE_MS) });
    const { valid_from: from, valid_to: to } = socket.getPeerCertificate();
    return aboutCertificate(url.host, Date.parse(from), Date.parse(to), Date.now());
  } catch {
    // The request before this one went through.
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** @param from when it begins, `to` when it ends, in milliseconds since 1970 */
export function aboutCertificate(
  host: string,
  from: number,
  to: number,
  now: number,
): Finding | undefined {
  const left = to - now;
  if (!(left < (to - from) / LAST_PART)) return undefined;
  const days = Math.max(0, Math.floor(left / DAY_MS));
  return note(
    `the certificate of ${host} ends in ${days} ${days === 1 ? "day" : "days"}, and was not renewed`,
    "Look at the log of the proxy, which renews it: port 80 or 443 must be reached for that. Once it has ended, no delivery comes.",
  );
}
