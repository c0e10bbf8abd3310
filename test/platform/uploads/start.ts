import type { ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { downloadWith, type ListenOptions, startPlatform } from "../../faces/platform.ts";
import { image } from "../support/images.ts";
import { type Answer, type ErrorBody, request } from "../support/platform.ts";
import { imageServer } from "./image-server.ts";

/** A platform of which every download reaches a server of this machine, which answers so. */
export async function startWithDownloads(
  respond: (response: ServerResponse, path: string) => void,
  options: ListenOptions = {},
): Promise<Platform> {
  const { parts } = await imageServer(respond);
  const platform = await startPlatform(options, { download: downloadWith(parts) });
  onTestFinished(() => platform.stop());
  return platform;
}

/** A platform whose downloads wait. */
export interface HeldDownloads {
  readonly platform: Platform;
  /** Uploads an image by its address. */
  upload(): Promise<Answer<ErrorBody>>;
  /** Resolves once the first download has arrived. */
  readonly asked: Promise<void>;
  /** Answers them all, and those that are still to come. */
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
