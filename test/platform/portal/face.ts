export { check, isRepeat } from "../../../src/platform/portal/content/body.ts";
export { sift } from "../../../src/platform/portal/content/image-files.ts";
export { Reader, type ReadOutcome } from "../../../src/platform/portal/live/reader.ts";
export { ago, bytes, duration } from "../../../src/platform/portal/parts/duration.ts";
export { Values } from "../../../src/platform/portal/parts/values.ts";
export { rolesIn } from "../../../src/platform/portal/views/chat/talks.ts";
export { threaded } from "../../../src/platform/portal/views/chat/threads.ts";
export { eventTypes } from "../../../src/platform/portal/views/events/event-types.ts";
export { type Fixture, fixtureOf } from "../../../src/platform/portal/views/events/fixture.ts";
export { outcomeOf } from "../../../src/platform/portal/views/events/outcomes.ts";
export { remedyOf } from "../../../src/platform/portal/views/events/remedy.ts";
export { select } from "../../../src/platform/portal/views/events/search.ts";
export { ownFrames } from "../../../src/platform/portal/views/events/stack.ts";
export {
  codeOf,
  errorIn,
  idOf,
  overviewOf,
  readKey,
  type Story,
  type Thing,
  textOfStep,
  withSteps,
} from "../../../src/platform/portal/views/events/stories.ts";
export {
  activeFault,
  changeOf,
  deliveries,
  describeHeld,
  endOf,
  fieldsOf,
  isActive,
  noFaults,
  requests,
  targets,
} from "../../../src/platform/portal/views/faults/scenarios.ts";
export {
  isMachineTime,
  isRefused,
  offsetAt,
  toPlatformTime,
} from "../../../src/platform/portal/views/settings/clock.ts";
export {
  fileName,
  limitNames,
  revokeWarning,
  scopes,
  usage,
} from "../../../src/platform/portal/views/settings/names.ts";
export { readBotStatus } from "../../../src/platform/portal/views/webhook/bot-status.ts";
export type { CallRecord, TimelineEntry } from "../../../src/platform/types.ts";
