import type { ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { Platform } from "../../../src/platform/index.ts";
import type { PlatformOptions } from "../../../src/platform/options.ts";
import { startPlatform } from "../../../src/platform/platform.ts";
import { downloadWith } from "../../../src/platform/uploads/download.ts";
import { imageServer } from "./image-server.ts";

/** A platform of which every download reaches a server of this machine, which answers so. */
export async function startWithDownloads(
  respond: (response: ServerResponse, path: string) => void,
  options: PlatformOptions = {},
): Promise<Platform> {
  const { parts } = await imageServer(respond);
  const platform = await startPlatform(options, { download: downloadWith(parts) });
  onTestFinished(() => platform.stop());
  return platform;
}
