import { isLoopback } from "../../core/loopback.ts";
import { invalid } from "../error.ts";

/**
 * Checks the address of an endpoint. It must use https (section 2); the local platform also takes
 * http on this machine, where nobody listens in.
 *
 * @returns the address in its normal form
 * @throws {PlatformError} 400 VALIDATION
 */
export function endpointUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) throw invalid("url must be an absolute address, such as https://example.org/");
  if (url.username !== "" || url.password !== "") {
    throw invalid("url must not hold a user name or a password");
  }
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) {
    return url.href;
  }
  throw invalid("url must use https, or http with a host of this machine (127.0.0.1, localhost)");
}
