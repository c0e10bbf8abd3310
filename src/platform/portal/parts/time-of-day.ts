const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** Formats a local time of day, as `service-bot dev` does. */
export function timeOfDay(at: string): string {
  return time.format(new Date(at));
}
