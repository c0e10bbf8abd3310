/** The header that says how many events a delivery has, as Node spells header names. */
export const EVENT_COUNT_HEADER = "x-service-event-count";

/** The number in the header; undefined when it is absent, doubled or anything but digits. */
export function readEventCount(header: string | readonly string[] | undefined): number | undefined {
  return typeof header === "string" && /^[0-9]{1,15}$/.test(header) ? Number(header) : undefined;
}
