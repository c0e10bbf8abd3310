import { promises as dns, type LookupAddress } from "node:dns";
import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import type { LookupFunction } from "node:net";
import { readUpTo } from "../../core/bounded-read.ts";
import type { Clock } from "../../core/clock.ts";
import { isPublicAddress, isPublicName, literalIn } from "../../core/public-host.ts";
import { messageOf } from "../../errors.ts";
import { invalid, PlatformError } from "../error.ts";
import { imageTooLarge, MAX_IMAGE_BYTES } from "./upload-body.ts";

export const DOWNLOAD_TIME_LIMIT_MS = 10_000;

/**
 * Downloads the image for an upload by URL (section 4 of the platform document).
 *
 * @throws {PlatformError} 400 VALIDATION, BLOCKED_HOST, NOT_IMAGE, TOO_LARGE
 */
export type Download = (url: string, signal: AbortSignal) => Promise<Uint8Array>;

/** Compatible with `request` from node:https. */
export type Open = (
  url: URL,
  options: RequestOptions,
  onResponse: (response: IncomingMessage) => void,
) => ClientRequest;

/**
 * Replaceable parts of a download. Tests replace all of them except the clock, because tests must not connect to other
 * machines.
 */
export interface DownloadParts {
  readonly clock: Clock;
  readonly open?: Open;
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>;
  readonly isAllowed?: (address: string) => boolean;
}

export function downloadWith({
  clock,
  open = httpsRequest,
  resolve = (host) => dns.lookup(host, { all: true }),
  isAllowed = isPublicAddress,
}: DownloadParts): Download {
  const lookup = guardedLookup(resolve, isAllowed);
  return async (text, signal) => {
    const url = checkUrl(text, isAllowed);
    return new Promise((done, reject) => {
      // Use a separate agent, so that the connection uses the addresses returned by `lookup`. A shared agent might
      // reuse a connection, or use a proxy that resolves the name itself.
      const options = { agent: new Agent(), lookup, headers: { accept: "image/*" } };
      let answered = false;
      const request = open(url, options, (response) => {
        answered = true;
        readImage(response).then(done, fail);
      });
      const end = () =>
        request.destroy(new Error(`no complete response within ${DOWNLOAD_TIME_LIMIT_MS} ms`));
      const cancel = clock.timer(DOWNLOAD_TIME_LIMIT_MS, end);
      const fail = (error: unknown) => {
        reject(error instanceof PlatformError ? error : blocked(messageOf(error)));
        request.destroy();
      };
      signal.addEventListener("abort", end, { once: true });
      request.on("error", fail);
      request.on("close", () => {
        cancel();
        signal.removeEventListener("abort", end);
        // For example, a connection that switches to another protocol ends without a response or an error.
        if (!answered) fail(new Error("the connection closed before a response arrived"));
      });
      if (signal.aborted) end();
      request.end();
    });
  };
}

function checkUrl(text: string, isAllowed: (address: string) => boolean): URL {
  const url = URL.parse(text);
  if (url === null) {
    // For example, an IPv6 address with a zone, which only this machine can reach.
    if (/^\s*[a-z][a-z0-9+.-]*:/i.test(text)) throw blocked("it has no host");
    throw invalid("url must be an absolute URL");
  }
  if (url.protocol !== "https:") throw blocked("it must begin with https:");
  if (url.username !== "" || url.password !== "") {
    throw blocked("it must not contain a user name or a password");
  }
  // `lookup` is never called for an IP address in the URL. The URL parser has already normalized the address.
  const address = literalIn(url.hostname);
  if (address === undefined && !isPublicName(url.hostname))
    throw blocked("its host name is not public");
  if (address !== undefined && !isAllowed(address)) throw blocked("its address is not public");
  return url;
}

/**
 * Resolves the name while connecting, so that the connection uses exactly the addresses that were checked. Rejects a
 * name if any of its addresses is forbidden.
 */
function guardedLookup(
  resolve: (host: string) => Promise<readonly LookupAddress[]>,
  isAllowed: (address: string) => boolean,
): LookupFunction {
  const find = async (host: string): Promise<[LookupAddress, ...LookupAddress[]]> => {
    const [first, ...others] = await resolve(host);
    if (first === undefined) throw new Error("the host name has no address");
    if ([first, ...others].every(({ address }) => isAllowed(address))) return [first, ...others];
    throw new Error("its address is not public");
  };
  return (host, { all }, callback) => {
    find(host).then(
      (found) => {
        if (all) callback(null, found);
        else callback(null, found[0].address, found[0].family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

async function readImage(response: IncomingMessage): Promise<Uint8Array> {
  const { statusCode = 0 } = response;
  if (statusCode >= 300 && statusCode <= 399)
    throw blocked("the platform does not follow redirects");
  if (statusCode !== 200) {
    throw new PlatformError(400, "NOT_IMAGE", `The URL responded with ${statusCode}.`);
  }
  if (Number(response.headers["content-length"]) > MAX_IMAGE_BYTES) throw imageTooLarge();
  const bytes = await readUpTo(response, MAX_IMAGE_BYTES);
  if (bytes === undefined) throw imageTooLarge();
  return bytes;
}

function blocked(why: string): PlatformError {
  return new PlatformError(400, "BLOCKED_HOST", `The URL is not allowed: ${why}.`);
}
