import { expect, test } from "vitest";
import {
  everything,
  type Filter,
  filterOf,
  indexOf,
  isNarrow,
  peopleOf,
  select,
  textOf,
  typesOf,
} from "../face.ts";
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

/** The numbers of what fits. */
function found(filter: Partial<Filter>): readonly number[] {
  return select(entries, { ...everything, ...filter }, index).map(({ seq }) => seq);
}

test("requests that read and found no events are folded away until they are asked for", () => {
  expect(found({})).toEqual([1, 2, 3, 5, 6, 7, 8, 9, 10]);
  expect(found({ reads: true })).toContain(4);
});

test("a page of the log that held events is no idle read, nor is one that was refused", () => {
  const pages = timelineOf({ ...read, eventIds: ["evt_1"] }, { ...read, status: 401 });
  expect(select(pages, everything, indexOf(pages))).toHaveLength(2);
});

test("a type brings its events with their deliveries and the calls because of them", () => {
  expect(found({ type: "poll.created" })).toEqual([3, 5, 6]);
  expect(found({ type: "dm.message" })).toEqual([1, 2, 5, 8]);
  expect(found({ type: "like" })).toEqual([]);
});

test("so does a person", () => {
  expect(found({ person: "ben" })).toEqual([3, 5, 6]);
  expect(found({ person: "ben", type: "dm.message" })).toEqual([]);
});

test("an outcome is that of the event as a whole, and that of each try", () => {
  expect(found({ outcome: "delivered" })).toEqual([1, 3, 5, 6]);
  expect(found({ outcome: "failed" })).toEqual([2, 7]);
  expect(found({ outcome: "waiting" })).toEqual([8]);
  expect(found({ outcome: "fault" })).toEqual([2, 8, 10]);
});

test("a kind and words narrow it further; all of the words have to be there", () => {
  expect(found({ kind: "delivery" })).toEqual([2, 5]);
  expect(found({ text: "TEA" })).toEqual([3, 6]);
  expect(found({ text: "tea coffee" })).toEqual([3]);
  expect(found({ text: "<b>or" })).toEqual([3]);
  expect(found({ text: "m_7" })).toEqual([6]);
  expect(found({ text: "evt_2 delivery" })).toEqual([5]);
  expect(found({ text: "dlv_2" })).toEqual([5]);
});

test("a filter is kept as a text", () => {
  const filter = { ...everything, type: "a&b=c", person: "ada", reads: true, outcome: "failed" };
  expect(filterOf(textOf(filter))).toEqual(filter);
  expect(textOf(everything)).toBe("");
  expect(filterOf("outcome=lost&kind=other&reads=yes")).toEqual(everything);
});

test("showing the reads is not looking for anything", () => {
  expect(isNarrow({ ...everything, reads: true })).toBe(false);
  expect(isNarrow({ ...everything, text: "x" })).toBe(true);
});

test("there are the types of the document, those that were seen, and the one that is chosen", () => {
  expect(typesOf(index, "gone")).toEqual(
    expect.arrayContaining(["dm.message", "follow", "poll.created", "gone"]),
  );
  expect(typesOf(index, "")).not.toContain("");
  expect(peopleOf(index, "zoe")).toEqual(["ada", "ben", "cleo", "zoe"]);
});
