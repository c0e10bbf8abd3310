import { expect, expectTypeOf, test } from "vitest";
import {
  type ActivityPayload,
  type AnyEvent,
  type CronEvent,
  type CronPayload,
  type DmMessagePayload,
  type EventOf,
  type EventType,
  eventTypes,
  type FollowPayload,
  type KnownEvent,
  parseEvent,
  type TimerEvent,
  type TimerPayload,
  type UnknownEvent,
} from "../faces/events.ts";
import { payloads, wireEvent } from "./samples.ts";

// `npm run check` checks the types. These tests check the values.

test("the type of an event narrows its payload", () => {
  const payloadOf = (event: KnownEvent): unknown => {
    switch (event.type) {
      case "dm.message":
        expectTypeOf(event.payload).toEqualTypeOf<DmMessagePayload>();
        return event.payload.conversationId;
      case "follow":
        expectTypeOf(event.payload).toEqualTypeOf<FollowPayload>();
        return event.payload.entityId;
      case "mention":
      case "comment":
      case "reply":
      case "like":
      case "repost":
      case "quote":
        expectTypeOf(event.payload).toEqualTypeOf<ActivityPayload>();
        return event.payload.actor.username;
      default:
        // Every known type has a case above.
        expectTypeOf(event).toBeNever();
        return undefined;
    }
  };
  for (const type of eventTypes) {
    const parsed = parseEvent(wireEvent(type, payloads[type]));
    expect(parsed.ok && payloadOf(parsed.event as KnownEvent)).toBeTruthy();
  }
});

test("a newer event has nothing but unknown fields in its payload", () => {
  expectTypeOf<UnknownEvent["payload"]>().toEqualTypeOf<Readonly<Record<string, unknown>>>();
  expectTypeOf<UnknownEvent>().not.toExtend<KnownEvent>();
  expectTypeOf<AnyEvent>().toEqualTypeOf<KnownEvent | TimerEvent | CronEvent | UnknownEvent>();
});

test("the type narrows any event, and what remains is an event of another type", () => {
  const placeOf = (event: AnyEvent): unknown => {
    const { type, payload } = event;
    if (type === "follow") expectTypeOf(payload).toEqualTypeOf<FollowPayload>();
    switch (event.type) {
      case "dm.message":
        expectTypeOf(event).toEqualTypeOf<EventOf<"dm.message">>();
        return event.payload.conversationId;
      case "timer:remind":
        expectTypeOf(event.payload).toEqualTypeOf<TimerPayload>();
        return event.payload.name;
      case "cron:daily":
        expectTypeOf(event.payload).toEqualTypeOf<CronPayload>();
        return event.payload.dueAt;
      // @ts-expect-error No event has this type, because it is misspelt.
      case "dm.mesage":
        return undefined;
      default:
        expectTypeOf(event).toEqualTypeOf<
          | Exclude<KnownEvent, { readonly type: "dm.message" }>
          | TimerEvent
          | CronEvent
          | UnknownEvent
        >();
        expectTypeOf(event.type).toExtend<string>();
        return Object.keys(event.payload);
    }
  };
  const read = (type: string, payload: object) => {
    const parsed = parseEvent(wireEvent(type, payload));
    return parsed.ok ? placeOf(parsed.event) : parsed.reason;
  };
  expect(read("dm.message", payloads["dm.message"])).toBe("c_1");
  expect(read("poll.closed", { votes: 1 })).toEqual(["votes"]);
});

test("EventOf picks one event, or a union that `type` narrows", () => {
  expectTypeOf<EventOf<"follow">["payload"]>().toEqualTypeOf<FollowPayload>();
  expectTypeOf<EventOf<"mention" | "follow">["type"]>().toEqualTypeOf<"mention" | "follow">();
  expectTypeOf<EventOf<EventType>>().toEqualTypeOf<KnownEvent>();
});

test("optional fields must be looked at before use", () => {
  expectTypeOf<ActivityPayload["postId"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<ActivityPayload["excerpt"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<DmMessagePayload["excerpt"]>().toEqualTypeOf<string>();
});
