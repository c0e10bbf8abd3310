import { expect, test } from "vitest";
import { fixtureOf } from "../face.ts";

test("a test's file is named after its event, whatever the event's name", () => {
  const { name } = fixtureOf({
    id: "../evt/1",
    type: "a.b/../c",
    createdAt: "2026-11-22T10:00:00.000Z",
    payload: {},
  });
  expect(name).toBe("a-b-c--evt-1.test.ts");
});
