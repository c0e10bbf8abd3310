import { eventTypes, isEventType } from "../events/payload.ts";
import type { NewEvent } from "./inbox.ts";

/**
 * Deliveries from the author's own services say nothing about the platform's webhook. Only the event type distinguishes
 * them. Types that are newer than this version therefore count as own types.
 */

/** The platform's event types, as an SQL list. */
export const PLATFORM_TYPES: string = eventTypes.map((type) => `'${type}'`).join(", ");

/** Returns whether the platform may have sent a delivery. Empty and malformed deliveries count. */
export function isFromPlatform(events: readonly Pick<NewEvent, "type" | "unusable">[]): boolean {
  const isOwnType = ({ type, unusable }: Pick<NewEvent, "type" | "unusable">) =>
    unusable === undefined && !isEventType(type);
  return events.length === 0 || !events.every(isOwnType);
}
