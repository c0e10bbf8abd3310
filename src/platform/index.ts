/** Public names of `service-bot/platform`: the local platform, for tests and tools. */

export type { ActInput } from "./acts/input.ts";
export { PlatformError, type PlatformErrorCode } from "./error.ts";
export type { PlatformOptions } from "./options.ts";
export { createPlatform, type Platform } from "./platform.ts";
export { type ListenOptions, startPlatform } from "./server.ts";
export type { TimelineEntry } from "./timeline/entries.ts";
