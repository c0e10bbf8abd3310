import { networkInterfaces } from "node:os";
import type { Platform } from "../../platform/index.ts";

/**
 * Where the portal can be opened: here, and on every IPv4 address of this machine where it listens on all of them.
 *
 * @param host what it was told to listen on
 */
export function portalUrls({ portalUrl }: Platform, host: string | undefined): readonly string[] {
  if (host !== "0.0.0.0" && host !== "::") return [portalUrl];
  const elsewhere = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .map(({ address }) => {
      const url = new URL(portalUrl);
      url.hostname = address;
      return url.href;
    });
  return [portalUrl, ...elsewhere];
}
