import type { TimelineRecord } from "../../../faces/platform.ts";
import type { CallRecord, TimelineEntry } from "../face.ts";

export function timelineOf(...records: readonly TimelineRecord[]): readonly TimelineEntry[] {
  return records.map((record, index) => {
    return { seq: index + 1, at: "2026-11-22T10:00:00.000Z", ...record };
  });
}

type RecordOf<K extends TimelineRecord["kind"]> = Extract<TimelineRecord, { kind: K }>;

export function happened(id: string, more: Partial<RecordOf<"event">> = {}): RecordOf<"event"> {
  return { kind: "event", bot: "bot", id, type: "dm.message", from: "ada", text: "hello", ...more };
}

export function delivered(
  eventIds: readonly string[],
  more: Partial<RecordOf<"delivery">> = {},
): RecordOf<"delivery"> {
  const made = { id: "dlv_1", bot: "bot", status: 200, ms: 9, attempt: 1, forced: false };
  return { kind: "delivery", eventIds, ...made, ...more };
}

export function called(more: Partial<RecordOf<"api">> = {}): RecordOf<"api"> {
  const path = "/dm/conversations/c_2/messages";
  const made = { id: "call_1", bot: "bot", method: "POST", status: 201, ms: 6 };
  return { kind: "api", path, ...made, ...more };
}

export const read: RecordOf<"api"> = called({ method: "GET", path: "/events", status: 200 });

export function said(path: string, body: unknown, more: Partial<CallRecord> = {}): CallRecord {
  return {
    id: "call_1",
    bot: "bot",
    method: "POST",
    path,
    at: "2026-11-22T10:00:00.000Z",
    ms: 6,
    status: 201,
    request: { url: `/api/v1${path}`, headers: {}, body: JSON.stringify(body), truncated: false },
    response: { status: 201, headers: {}, body: "{}", truncated: false },
    ...more,
  };
}
