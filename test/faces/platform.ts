export { PlatformClock } from "../../src/platform/clock.ts";
export { askBot } from "../../src/platform/control/bot-view.ts";
export type { RemoteControl } from "../../src/platform/control/client.ts";
export { ControlApi } from "../../src/platform/control/control-api.ts";
export { endpointsOf } from "../../src/platform/control/endpoints.ts";
export { type Operation, operations } from "../../src/platform/control/operations.ts";
export { bot, type ControlRoute } from "../../src/platform/control/routes.ts";
export { mentionsIn } from "../../src/platform/events/content.ts";
export type { Answer as PlatformAnswer } from "../../src/platform/http/answer.ts";
export type { Incoming } from "../../src/platform/http/routes.ts";
export type { PlatformOptions } from "../../src/platform/options.ts";
export {
  createPlatform,
  type Platform,
  type PlatformOverrides,
} from "../../src/platform/platform.ts";
export {
  appOf,
  type Extension,
  Extensions,
  type ListenOptions,
  type OpenExtension,
  startPlatform,
} from "../../src/platform/server.ts";
export { openDatabase, whyUnusable } from "../../src/platform/store/database.ts";
export { addBot, seed } from "../../src/platform/store/seed.ts";
export { Store } from "../../src/platform/store/store.ts";
export { CallRecords, type EndedCall } from "../../src/platform/timeline/calls.ts";
export type {
  ApiEntry,
  DeliveryEntry,
  EventEntry,
  TimelineEntry,
  TimelineRecord,
} from "../../src/platform/timeline/entries.ts";
export { TimelineStream } from "../../src/platform/timeline/stream.ts";
export { Timeline, type TimelineListener } from "../../src/platform/timeline/timeline.ts";
export type * from "../../src/platform/types.ts";
export {
  DOWNLOAD_TIME_LIMIT_MS,
  type DownloadParts,
  downloadWith,
  type Open,
} from "../../src/platform/uploads/download.ts";
export { inspect, MAX_SIDE } from "../../src/platform/uploads/image.ts";
export {
  loadSharp,
  type MakeThumbnail,
  type OpenImage,
  thumbnailsWith,
} from "../../src/platform/uploads/thumbnail.ts";
export { MAX_IMAGE_BYTES } from "../../src/platform/uploads/upload-body.ts";
export { whyNoAnswer } from "../../src/platform/webhooks/no-answer.ts";
export { DeliveryRecords } from "../../src/platform/webhooks/records.ts";
export type { DeliveryAttempt } from "../../src/platform/webhooks/sender.ts";
