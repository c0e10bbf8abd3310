export { idFamily, orderKey } from "../../src/events/id.ts";
export { defaultLane, type LaneOf, safeLane } from "../../src/events/lane.ts";
export {
  cronEvent,
  isOwn,
  originOf,
  ownTypeOf,
  setterOf,
  timerEvent,
  timerPayload,
} from "../../src/events/own.ts";
export {
  noteTexts,
  type ParsedEvent,
  parseEvent,
  readStoredEvent,
  textOf,
  textsOf,
} from "../../src/events/parse.ts";
export { copiedFields, eventTypes, isEventType, optionalFields } from "../../src/events/payload.ts";
export type {
  ActivityPayload,
  AnyEvent,
  CronEvent,
  CronPayload,
  DmMessagePayload,
  EventOf,
  EventType,
  FollowPayload,
  KnownEvent,
  PayloadByType,
  TimerEvent,
  TimerPayload,
  UnknownEvent,
  UnknownEventType,
} from "../../src/events/types.ts";
export { readEvents, type WireEvents } from "../../src/events/wire.ts";
