import { eventTypes, isEventType } from "../events/parse.ts";

/**
 * The type of an event as a label. What is newer than this version has none of its own: whoever can send events must not
 * be able to make up labels.
 */
export function typeLabel(type: string): string {
  return isEventType(type) ? type : UNKNOWN;
}

const UNKNOWN = "unknown";

export const typeLabels: readonly string[] = [...eventTypes, UNKNOWN];
