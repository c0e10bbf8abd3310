import { expect, test } from "vitest";
import { indexOf, select } from "../face.ts";
import { called, delivered, happened, read, timelineOf } from "./entries.ts";

const entries = timelineOf(
  happened("evt_1"),
  delivered(["evt_1"], { id: "dlv_1", status: 500, error: "answered 500", fault: "status" }),
  happened("evt_2", { type: "poll.created", from: "ben", text: "Tea <b>or</b> coffee?" }),
  read,
  delivered(["evt_1", "evt_2"], { id: "dlv_2", attempt: 2 }),
  called({ id: "call_1", eventId: "evt_2", text: "Tea!", created: { messageId: "m_7" } }),
  called({ status: 429 }),
  happened("evt_3", { from: "cleo", lateMs: 3000 }),
  { kind: "webhook", bot: "bot", change: "saved", reason: "saved in the portal" },
  { kind: "fault", target: "webhook", change: "set", detail: "status 500, once" },
);
const index = indexOf(entries);

/** Returns the numbers of the entries that fit. */
function find(text: string, reads = false): readonly number[] {
  return select(entries, { text, reads }, index).map(({ seq }) => seq);
}

test("requests that read and found no events are folded away until they are asked for", () => {
  expect(find("")).toEqual([1, 2, 3, 5, 6, 7, 8, 9, 10]);
  expect(find("", true)).toContain(4);
});

test("a page of the log that held events is no idle read, nor is one that was refused", () => {
  const pages = timelineOf({ ...read, eventIds: ["evt_1"] }, { ...read, status: 401 });
  expect(select(pages, { text: "", reads: false }, indexOf(pages))).toHaveLength(2);
});

test("a type or a person brings the events with their deliveries and the calls because of them", () => {
  expect(find("poll.created")).toEqual([3, 5, 6]);
  expect(find("dm.message")).toEqual([1, 2, 5, 8]);
  expect(find("@ben")).toEqual([3, 5, 6]);
  expect(find("@ben dm.message")).toEqual([5]);
});

test("an outcome is that of the event as a whole, and that of each try", () => {
  expect(find("failed")).toEqual([2]);
  expect(find("waiting")).toEqual([8]);
  expect(find("refused")).toEqual([7]);
  expect(find("fault")).toEqual([2, 10]);
});

test("all of the words have to be there, in any case", () => {
  expect(find("delivery")).toEqual([2, 5]);
  expect(find("TEA")).toEqual([3, 6]);
  expect(find("tea coffee")).toEqual([3]);
  expect(find("<b>or")).toEqual([3]);
  expect(find("m_7")).toEqual([6]);
  expect(find("evt_2 delivery")).toEqual([5]);
  expect(find("dlv_2")).toEqual([5]);
});
