import type { Config } from "../config.ts";
import { isSentInClear } from "../core/access.ts";
import type { Logger } from "../core/logger.ts";

/** Warns if the token of each request can be read on its way to the platform. */
export function warnOfPlainHttp({ baseUrl }: Config, log: Logger): void {
  if (!isSentInClear(baseUrl)) return;
  log.warn(
    { platform: baseUrl },
    "SERVICE_BASE_URL is plain http, so the token can be read on its way to another machine; use https",
  );
}
