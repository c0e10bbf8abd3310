import { expect, test } from "vitest";
import type { AnyEvent } from "../../../faces/events.ts";
import { fixtureOf } from "../face.ts";

test("a test's file is named after its event, whatever the event's name", () => {
  const event = {
    id: "../evt/1",
    type: "a.b/../c" as string,
    createdAt: "2026-11-22T10:00:00.000Z",
    payload: {},
  } as AnyEvent;
  const { name } = fixtureOf(event);
  expect(name).toBe("a-b-c--evt-1.test.ts");
});
