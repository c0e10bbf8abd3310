import type { ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import {
  createPlatform,
  downloadWith,
  type ListenOptions,
  type Platform,
  type PlatformOptions,
  type PlatformOverrides,
  startPlatform,
} from "../../faces/platform.ts";
import { image } from "../support/images.ts";
import { type Answer, type ErrorBody, request } from "../support/platform.ts";
import { imageServer } from "./image-server.ts";

type Respond = (response: ServerResponse, path: string) => void;

/**
 * Redirects downloads to a local server, which starts on the first download. Without `respond`, downloads use the
 * network.
 */
function replacedBy(respond: Respond | undefined): PlatformOverrides {
  if (respond === undefined) return {};
  let server: ReturnType<typeof imageServer> | undefined;
  const download: PlatformOverrides["download"] = async (url, signal) => {
    server ??= imageServer(respond);
    return await downloadWith((await server).parts)(url, signal);
  };
  return { download };
}

/** Creates a platform in this process. All of its downloads reach a local server that responds with `respond`. */
export function platformWithDownloads(respond?: Respond, options: PlatformOptions = {}): Platform {
  const platform = createPlatform(options, replacedBy(respond));
  onTestFinished(() => platform.stop());
  return platform;
}

export async function startWithDownloads(
  respond: Respond,
  options: ListenOptions = {},
): Promise<Platform> {
  const platform = await startPlatform(options, replacedBy(respond));
  onTestFinished(() => platform.stop());
  return platform;
}

export interface HeldDownloads {
  readonly platform: Platform;
  upload(): Promise<Answer<ErrorBody>>;
  readonly asked: Promise<void>;
  go(): void;
}

export async function startWithHeldDownloads(): Promise<HeldDownloads> {
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const png = await image();
  const platform = await startWithDownloads((response) => {
    asked.resolve();
    go.promise.then(() => response.writeHead(200).end(png));
  });
  const body = { url: "https://images.example/a.png" };
  return {
    platform,
    upload: () => request(platform, "POST", "/api/v1/uploads", { body }),
    asked: asked.promise,
    go: go.resolve,
  };
}
